"""Example participants, each a program of its own.

``what_if`` needs only the client. The others use laws of `jounce`, which must be installed as well.
"""

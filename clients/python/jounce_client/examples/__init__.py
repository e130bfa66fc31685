"""Example participants, each its own process.

``what_if`` needs the client alone. The others take their laws from `jounce`, which has to be installed besides.
"""

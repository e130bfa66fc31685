"""Bridges: programs that join a session and speak another program's protocol on their other side.

``python -m jounce_client.bridges.NAME`` and ``jounce bridge NAME`` run them.
"""

"""Conformance suite for lockstep servers: ``python -m jounce_client.compliance`` tests the server at an address.

Needs the extra ``compliance`` (pytest). The tests read the model's signals from the server and drive whatever inputs it
has, so they fit any model. ``contract`` holds the tables that they go by.
"""

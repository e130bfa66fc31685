"""What every lockstep server must do, as tests that run against an address: ``python -m jounce_client.compliance``.

Needs the extra ``compliance`` (pytest). The tests read the model's signals from the server and drive whatever inputs it
has, so they fit any model. ``contract`` holds the tables that they go by.
"""

"""The lockstep clock of a session. Pure logic: no I/O and no event loop."""

"""Settings of the whole suite."""

from hypothesis import settings

# CI machines are shared: an example that takes long says nothing about the code.
settings.register_profile("jounce", deadline=None)
settings.load_profile("jounce")

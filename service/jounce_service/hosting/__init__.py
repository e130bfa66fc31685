"""The models that a server hosts."""

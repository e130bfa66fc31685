"""Builds native libraries and FMU archives from a model's sources."""

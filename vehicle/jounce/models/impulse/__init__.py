"""Vehicles from an architecture on the impulse engine."""

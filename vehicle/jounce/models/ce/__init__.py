"""Vehicles from an architecture in minimal coordinates: constraint embedding of their suspensions, cab and mounts."""

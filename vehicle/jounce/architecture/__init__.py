"""Vehicles from an architecture: components and connections -> composite bodies, joints, springs and wheels.

Lesiv 2011, "Derivation of rigid body analysis models from vehicle architecture abstractions", with the corrections of
docs/architecture.md.
"""

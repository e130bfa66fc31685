"""Example participants: an autopilot and a terramechanics program, each its own process."""

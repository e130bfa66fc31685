"""``jounce build`` and ``jounce spectrum``: a vehicle from its architecture, and its natural frequencies."""

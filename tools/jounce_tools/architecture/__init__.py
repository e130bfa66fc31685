"""``jounce build``, ``spectrum``, ``render``: a vehicle from its architecture, its frequencies, its runs drawn."""

"""jounce: the equations, data and signals of the vehicle (symbolic; no I/O, no C, no network)."""

__version__ = "0.1.0"

"""Parameter sweeps and Monte Carlo on Ray. Needs the extra ``sweep``."""

"""``jounce demo``."""

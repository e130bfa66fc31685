"""Sessions: their life, their participants, their clock."""

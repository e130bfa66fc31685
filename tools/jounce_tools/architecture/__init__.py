"""``jounce build``: a vehicle from its architecture, with a report."""

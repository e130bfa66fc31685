"""``jounce compare``: the papers' formulations of one vehicle, on one page."""

"""``jounce uk study``: the half car of Ikoki 2022 under four traction laws, on one page."""

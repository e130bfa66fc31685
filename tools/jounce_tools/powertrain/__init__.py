"""``jounce powertrain``: maps of a powertrain as numbers and pictures, and what is to be known of its data."""

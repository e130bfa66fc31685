"""A vehicle of one's own by axles: an example to start from, checks, kinematic characteristics, the graph."""

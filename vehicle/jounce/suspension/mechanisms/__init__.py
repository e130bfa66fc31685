"""Kinds of axles as mechanisms: entries become bodies and joints, a file for each kind and a line in `templates`."""

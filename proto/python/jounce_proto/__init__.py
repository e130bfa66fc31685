"""Generated stubs of the wire contract ``jounce.v1`` (proto/generate.py); never edited by hand."""

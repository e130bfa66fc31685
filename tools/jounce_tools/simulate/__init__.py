"""One run of a model in process: inputs over time, rows of outputs."""

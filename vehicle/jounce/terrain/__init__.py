"""Roads and terrain as files: readers, makers, and the packed form that the model reads."""

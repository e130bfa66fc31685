"""Pictures, films and a page of a recorded run."""

"""FMI model descriptions from a signal table."""

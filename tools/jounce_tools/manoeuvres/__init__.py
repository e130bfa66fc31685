"""Standard manoeuvres: data, a driver, metrics and a report each."""

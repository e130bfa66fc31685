"""What is special to each model: the schedule of its functions, and the value references of its variables."""

"""Runs FMUs, our own and foreign ones, in this process or in worker processes."""

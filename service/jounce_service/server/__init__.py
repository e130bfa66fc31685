"""The server process: settings, start, end, metrics and logs."""

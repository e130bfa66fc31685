"""The vehicle on four double wishbones."""

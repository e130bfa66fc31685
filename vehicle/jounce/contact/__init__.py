"""What the ground does to a wheel."""

"""Contact of wheels and body with the ground."""

"""Other formulations of the vehicle that constraint embedding is compared with; no part of the product's models."""

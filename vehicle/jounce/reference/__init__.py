"""Independent formulations of the same vehicle, which tests compare with the equations of the model."""

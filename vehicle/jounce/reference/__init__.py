"""Independent formulations that judge the equations."""

"""Programs above the service: the command line, simulation, sweeps, the demonstration."""

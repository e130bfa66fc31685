"""From CasADi functions and a schedule to C."""

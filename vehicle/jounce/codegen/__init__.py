"""Emits C from CasADi functions and a schedule."""

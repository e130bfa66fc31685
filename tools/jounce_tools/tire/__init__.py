"""Tire files by themselves: what they hold, their curves, two of them beside each other."""

"""Vehicles whose loops stay as rows with multipliers, to compare with the constraint embedding."""

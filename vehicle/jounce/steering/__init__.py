"""Steering mechanisms."""

"""Suspensions as aggregated bodies; springs and shocks."""

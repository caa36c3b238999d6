"""Wiring: which masters, workers and devices make up a cluster."""

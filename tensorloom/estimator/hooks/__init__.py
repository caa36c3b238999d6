"""Hooks that need an Estimator."""

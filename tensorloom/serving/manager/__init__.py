"""Versions of models: found, loaded, made available, unloaded."""

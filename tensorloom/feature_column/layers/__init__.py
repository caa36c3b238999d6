"""Layers of columns, and who keeps their variables."""

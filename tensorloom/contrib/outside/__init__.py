"""Packages of contrib for other systems, which are not here: they refuse by name."""

"""Collectives among processes: values of all of them, combined and given to all."""

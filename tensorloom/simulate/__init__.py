"""A cluster in one process, on a virtual clock and a virtual network."""

"""Functions of a graph's library: definitions, instances, shapes."""

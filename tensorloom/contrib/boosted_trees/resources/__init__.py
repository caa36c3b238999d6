"""Resources of trees: what sessions make, savers save, and steps add to."""

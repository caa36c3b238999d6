"""Machine code of clusters: compiled beside the steps, taken when it is right."""

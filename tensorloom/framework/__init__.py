"""The shared vocabulary: dtypes, shapes, devices, errors, graphs, their wire forms."""

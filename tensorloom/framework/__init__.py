"""The shared vocabulary: dtypes, shapes, device names, errors, graphs and their wire forms."""

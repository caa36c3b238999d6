"""State-space models of series, and the filter that they share."""

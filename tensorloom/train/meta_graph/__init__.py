"""MetaGraphDefs written and read."""

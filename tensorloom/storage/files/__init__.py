"""Files of any scheme, local or in a store."""

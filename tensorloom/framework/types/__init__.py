"""Element types, shapes, values and nested structures of them."""

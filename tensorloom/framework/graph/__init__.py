"""The graph: operations, tensors, scopes; the light graph; GraphDef both ways."""

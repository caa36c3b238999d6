"""The nodes of a debugger in a part of a graph."""

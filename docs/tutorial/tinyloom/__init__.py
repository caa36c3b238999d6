"""The core of tensorloom in miniature: eight files that build on each other."""

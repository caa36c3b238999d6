"""Functional control flow as classic nodes, where it spans tasks."""

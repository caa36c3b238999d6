"""Handlers of feature columns: what they collect, and the splits they propose."""

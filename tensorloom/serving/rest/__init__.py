"""The interfaces over HTTP."""

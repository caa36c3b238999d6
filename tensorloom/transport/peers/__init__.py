"""Reachability, liveness and authentication of other tasks."""

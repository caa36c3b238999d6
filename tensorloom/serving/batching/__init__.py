"""Requests for one signature, run as one step."""

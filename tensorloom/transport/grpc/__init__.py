"""Calls over gRPC."""

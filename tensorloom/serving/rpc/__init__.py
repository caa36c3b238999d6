"""The interfaces over gRPC."""

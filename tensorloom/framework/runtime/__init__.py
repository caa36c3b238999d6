"""What running steps share: resources, cancellation, threads, seeds."""

"""Workloads run side by side in tensorloom and in real TensorFlow: `make bench`."""

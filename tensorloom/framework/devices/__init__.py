"""Names of devices."""

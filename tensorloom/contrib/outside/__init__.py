"""Packages of contrib for other systems: Kafka; the others refuse by name."""

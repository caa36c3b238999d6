"""Requests and their responses in files, where a model's config says so."""

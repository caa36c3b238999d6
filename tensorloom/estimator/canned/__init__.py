"""Ready-made models, and the heads of the earlier surface that they stand on."""

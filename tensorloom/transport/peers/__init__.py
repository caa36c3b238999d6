"""Who is there, who is silent, who may speak."""

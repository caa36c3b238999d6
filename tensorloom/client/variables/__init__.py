"""Variables of both kinds, their scopes, partitions and initial values."""

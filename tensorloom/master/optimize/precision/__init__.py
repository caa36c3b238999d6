"""Computing in float16 what may be, on GPUs that are made for it."""

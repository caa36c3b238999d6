"""What each call computes, on a loaded version."""

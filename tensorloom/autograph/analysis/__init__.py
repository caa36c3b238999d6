"""What statements read, write and leave defined."""

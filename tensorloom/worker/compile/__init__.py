"""From the nodes of a piece to Python source."""

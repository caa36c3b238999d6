"""What the libraries below `tensorloom/distribute` know of strategies."""

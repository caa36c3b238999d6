"""Parts of specs that several families use."""

"""What becomes of a step: for `Session.explain` and `tensorloom explain`."""

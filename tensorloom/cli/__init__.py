"""The command line: `tensorloom COMMAND ...`."""

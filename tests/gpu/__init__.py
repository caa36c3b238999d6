"""The check of a GPU, `python -m tests.gpu`, and a pretended one to test it on."""

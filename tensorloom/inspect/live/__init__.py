"""The live page over a running cluster ([inside.md])."""

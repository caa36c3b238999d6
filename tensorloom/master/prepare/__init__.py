"""What a step needs: pruning, and shapes carried through the graph."""

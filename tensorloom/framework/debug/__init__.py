"""What a debugger asks of a step, and who hears of it."""

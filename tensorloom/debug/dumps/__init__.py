"""What a debugged step left in a directory: `DebugDumpDir` and what it is made of."""

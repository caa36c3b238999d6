"""What surrounds a program's graph: flags, log, versions, small tools."""

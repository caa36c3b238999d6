"""The command line of the debugger: commands over lines of text, in pipes too."""

"""Calls on connected sockets, between tensorloom's own tasks."""

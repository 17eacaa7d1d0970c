"""Tools of MCP servers: connections shared by all runs of a process, and a server that fails costs only its own (J4).

The `mcp` package takes a second to import: only `connection` and `transports` do so, when a first server is opened.
"""

"""Tools of MCP servers (J4). All runs of a process share the connections.

The `mcp` package takes a second to import: only `connection` and `transports` import it, when the first server opens.
"""

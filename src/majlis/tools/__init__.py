"""The tools of agents: built-in ones, and those of configs and MCP servers."""

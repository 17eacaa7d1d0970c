"""Programs that work with a Majlis: outside agents and an MCP client. `majlis new` has agent templates."""

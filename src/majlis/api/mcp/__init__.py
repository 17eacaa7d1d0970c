"""`/mcp`: Majlis as a server of the Model Context Protocol (D1). Only `server.py` and what it imports load the package
`mcp`."""

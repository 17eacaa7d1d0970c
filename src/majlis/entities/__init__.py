"""People, agents and services, with their names, roles, tokens and sessions."""

"""People, agents and services; their tokens, sessions and roles."""

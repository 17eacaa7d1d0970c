"""Webhooks of both directions: other programs post into a space or trigger an agent, and get a space's events (D4)."""

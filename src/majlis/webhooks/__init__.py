"""Webhooks: other programs post into a space or trigger an agent (D4)."""

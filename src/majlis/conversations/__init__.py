"""Conversations with an agent or a space by OpenAI's protocol (D3)."""

"""A client for the streaming Chat Completions protocol."""

"""Our own client for the streaming Chat Completions protocol."""

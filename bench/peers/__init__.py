"""Others who do the same, in an environment of their own (`.venv-peers`): their packages and ours never meet.

A file here that is a script runs there, and says what it measured as JSON."""

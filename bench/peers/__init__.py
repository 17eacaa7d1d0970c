"""Other libraries that do the same work, in an environment of their own (`.venv-peers`), so that their packages and
ours do not mix.

A file here that is a script runs there, and says what it measured as JSON."""

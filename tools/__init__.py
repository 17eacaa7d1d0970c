"""Sets up a checkout. Uses only the standard library, because it runs before anything is installed."""

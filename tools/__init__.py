"""What makes a checkout runnable: standard library only, for it runs before anything is installed."""

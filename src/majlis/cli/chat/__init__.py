"""`majlis chat`."""

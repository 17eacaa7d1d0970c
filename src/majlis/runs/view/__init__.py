"""What people and the API see of runs."""

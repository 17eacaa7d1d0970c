"""What an agent is: its config, checked in full before it is kept."""

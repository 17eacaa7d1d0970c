"""The consciousness mind: one stream of cycles, each of them all that has arrived and what the agent made of it."""

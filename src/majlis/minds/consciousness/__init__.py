"""The consciousness mind: a sequence of cycles, each with the inbox and what the agent did about it (behaviours K)."""

"""The timeline mind: messages with sender and time, what is new, and why the agent runs (behaviours X)."""

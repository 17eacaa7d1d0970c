"""Summaries of messages that left agents' windows (F3): asks the gateway's model for them in the background."""

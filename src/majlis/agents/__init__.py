"""Agents: their config, and the memories, goals and plans they keep."""

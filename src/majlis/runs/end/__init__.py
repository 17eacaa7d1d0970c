"""How a run ends."""

"""The roles mind: the conversation as turns, missed messages as one block, then the trigger (behaviours R)."""

"""The roles mind: a conversation as turns, what was missed as one block, then what is asked now (behaviours R)."""

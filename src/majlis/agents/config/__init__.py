"""The agent config: its shape, its rules, and the errors it is refused with."""

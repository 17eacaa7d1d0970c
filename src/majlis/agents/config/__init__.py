"""The agent config: its shape, its rules, and the errors of an invalid one."""

"""One tool call: its permission, its transactions, its result."""

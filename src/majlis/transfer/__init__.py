"""Export and import: a space or a whole gateway as JSON Lines, with members, cursors and pending work."""

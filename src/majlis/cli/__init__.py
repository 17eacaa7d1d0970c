"""The `majlis` command, a file for each sub-command. Heavy imports wait until a command needs them."""

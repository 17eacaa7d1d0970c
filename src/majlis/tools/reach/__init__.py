"""Where tools may go: hosts that the settings name, at addresses that were checked, with secrets that they may know."""

"""`majlis agent`."""

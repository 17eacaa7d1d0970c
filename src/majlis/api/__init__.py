"""The HTTP edge: a file for each resource that parses, authorises and calls one verb of the domain."""

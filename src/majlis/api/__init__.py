"""The HTTP API. A route parses and authenticates a request and calls one function of the domain."""

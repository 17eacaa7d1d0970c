"""The port to model providers: one request in, a stream of events out."""

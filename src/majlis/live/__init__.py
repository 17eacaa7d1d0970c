"""Live events: the event log, the bus between processes, and the streams to clients."""

"""What clients see as it happens: the event log, the bus between processes, and the streams to clients."""

"""The inbox: deliveries of events to agents, written in the transaction of the event."""

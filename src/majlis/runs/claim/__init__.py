"""How a worker gets runs: new ones for pending deliveries, resumed ones, and runs of dead workers."""

"""Outside agents: programs elsewhere take an agent's events, answer them and settle them (D2)."""

"""How agents perceive. A mind is a pure function of what was read: it never writes."""

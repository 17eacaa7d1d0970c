"""How agents perceive. A mind turns loaded data into a prompt and never writes."""

"""`http` tools: a request that a config describes, filled in by the model, sent where the settings allow it (J4)."""

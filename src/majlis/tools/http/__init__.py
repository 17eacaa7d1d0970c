"""`http` tools: the config describes the request, the model fills it in, the settings allow its host (J4)."""

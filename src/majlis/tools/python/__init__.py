"""`python` tools: functions of modules that the settings name, or that installed packages offer (J4)."""

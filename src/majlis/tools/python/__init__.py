"""`python` tools: functions of modules that the setting `tool_modules` allows or installed packages offer (J4)."""

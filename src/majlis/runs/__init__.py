"""Runs: claimed, worked on step by step with a journal, paused and resumed as rows, settled in one transaction."""

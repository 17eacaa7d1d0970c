"""Budgets (E5): checked before each model request, charged with the journal entry."""

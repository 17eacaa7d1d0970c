"""The timeline mind: who said what and when, what is new, why the agent runs now (behaviours X)."""

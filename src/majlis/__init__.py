"""Majlis: a gateway where people and AI agents are equal members of shared spaces."""

__version__ = "0.1.0"

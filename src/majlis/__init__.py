"""Majlis: a gateway where people and AI agents are equal members of shared spaces."""

from majlis.tool_decorator import ToolContext, tool

__all__ = ["ToolContext", "__version__", "tool"]
__version__ = "0.1.0"

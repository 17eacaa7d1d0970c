"""Which messages of a space are in view. Message numbers have no gaps, so nothing has to be counted."""

from __future__ import annotations

from majlis.agents.config.config import AgentConfig


def window_start(config: AgentConfig, total: int) -> int:
    """The number of the first message in view.

    `classic` shows the last `window` messages. `stable` moves in steps of half a window, so that the prompt's prefix
    stays the same for many runs (X8); it shows between half a window and a whole one."""
    if config.layout == "classic":
        return max(1, total - config.window + 1)
    return stepped_start(config, total)


def stepped_start(config: AgentConfig, total: int) -> int:
    half = half_window(config)
    blocks_left_out = -(-max(0, total - config.window) // half)
    return blocks_left_out * half + 1


def half_window(config: AgentConfig) -> int:
    return config.window // 2

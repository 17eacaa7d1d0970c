"""M15: the text of `send_message` while the model is still writing its JSON."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from majlis.runs.loop.deltas import SpokenStream


class Heard:
    """A channel that keeps what it is told."""

    def __init__(self) -> None:
        self.text = ""

    def publish_ephemeral(self, topic: str, type: str, data: dict[str, Any]) -> None:
        if type == "tool-input-delta":
            assert data["offset"] == len(self.text)
            self.text += data["textDelta"]

    def watch(self, topic: str, heard: Callable[[bytes], None]) -> Callable[[], None]:
        return lambda: None

    def stream_began(self, stream: SpokenStream) -> None: ...

    def stream_ended(self, stream: SpokenStream) -> None: ...


async def streamed(pieces: list[str]) -> list[str]:
    """The text after each piece, sent without the pause between deltas."""
    heard = Heard()
    stream = SpokenStream(heard, "spc_1", "run_1", "ent_1")
    texts = []
    for piece in pieces:
        stream.feed(piece)
        stream.flush()
        texts.append(heard.text)
    return texts


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ('{"text": "a\\ud83d\\ude00b"}', "a😀b"),
        ('{"text": "half \\ud83d of a pair"}', "half  of a pair"),
        ('{"text": "the other \\ude00 half"}', "the other  half"),
        ('{"text": "not one: \\\\ud83d"}', "not one: \\ud83d"),
        ('{"wait": true, "text": "later"}', "later"),
        ('{"more": {"text": "inner"}, "text": "outer"}', "outer"),
        ('{"text": 5}', ""),
        ('["text", "no object"]', ""),
    ],
)
async def test_m15_only_the_text_is_streamed_whatever_else_the_arguments_hold(arguments: str, text: str) -> None:
    assert (await streamed(list(arguments)))[-1] == text


@given(text=st.text(max_size=40), ascii=st.booleans())
async def test_m15_every_delta_adds_to_the_text_and_none_is_taken_back(text: str, ascii: bool) -> None:
    arguments = json.dumps({"wait": False, "text": text, "messageId": "msg_1"}, ensure_ascii=ascii)
    texts = await streamed(list(arguments))
    assert all(text.startswith(each) for each in texts)
    assert texts[-1] == text

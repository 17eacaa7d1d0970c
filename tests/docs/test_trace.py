"""A reader can follow one message and its answer: the code it passes through stays in few files."""

from __future__ import annotations

import sys
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import pytest

import majlis
from majlis.settings import Settings
from tests.model_server import say, sequence, silent
from tests.runs.house import House, open_house

# The usual case: spans are off, no pictures, nothing to shorten, a model without a price that needs no stored key. What
# follows from a config and the settings was decided at the first message: the model's key and host (G6), the size of a
# request (F1), the tools. PostgreSQL and HTTP take 5 of the files each, the timeline and the claim 5 and 3.
MOST_FILES = 50
# The worker polls once a second, whether or not a message arrives.
TIMERS = {
    "/runs/claim/poll.py",
    "/runs/budget/check.py",
    "/erase.py",
    "/janitor.py",
    "/live/presence.py",
    "/store/server_clock.py",
    "/audit/seal.py",
    "/push/queue.py",
    "/push/send.py",
    "/webhooks/queue.py",
    "/webhooks/send.py",
    "/webhooks/agent_events.py",
    "/outage.py",
}
_SOURCE = str(Path(majlis.__file__).parent)


@pytest.fixture
async def house(settings: Settings) -> AsyncIterator[House]:
    async with open_house(settings) as house:
        yield house


# Not on SQLite, which runs transactions in threads that the profiler does not reach.
@pytest.mark.parametrize("engine", ["postgresql"], indirect=True)
async def test_one_message_and_its_answer_pass_through_few_files(house: House) -> None:
    scout = await house.agent("Scout")
    space = await house.space("Project Alpha", scout)
    house.model.script = sequence(say("Yes."), silent(), say("Here I am."), silent())
    # The first answer loads and compiles what every later one only uses.
    await house.owner.say(space, "Is anyone here?")
    await house.until_idle()
    with traced() as files:
        await house.owner.say(space, "Scout, are you there?")
        await house.until_idle()
    assert (await house.texts(space))[-1] == ("Scout", "Here I am.")
    files -= TIMERS
    listed = "\n".join(sorted(files))
    assert len(files) <= MOST_FILES, f"one message and its answer pass through {len(files)} files:\n{listed}"


@contextmanager
def traced() -> Iterator[set[str]]:
    """The files of Majlis whose functions are called meanwhile, in any thread."""
    files: set[str] = set()

    def profile(frame: FrameType, event: str, arg: object) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(_SOURCE):
            files.add(frame.f_code.co_filename.removeprefix(_SOURCE))

    threading.setprofile(profile)
    sys.setprofile(profile)
    try:
        yield files
    finally:
        sys.setprofile(None)
        threading.setprofile(None)

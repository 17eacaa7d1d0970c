"""T6: a failure does not restart a chain: the retry has the depth of the answer to the failed run."""

from __future__ import annotations

import pytest

from tests.model_server import Asked, Reply, say, silent
from tests.runs.house import House

pytestmark = pytest.mark.usefixtures("standing_clock")


async def test_t6_a_try_after_a_failure_is_as_deep_as_the_answer_that_the_failed_one_had(house: House) -> None:
    """A person asks Ann, and Ann asks Bob and waits; his answer has depth 2. Then her model fails once."""
    house.try_models_once()
    ann, bob = await house.agent("Ann"), await house.agent("Bob")
    space = await house.space("Project Alpha", ann, bob, triggers="mentioned")
    failed: list[Asked] = []

    def script(asked: Asked) -> Reply:
        if asked.agent == "Bob":
            return say("Blue.") if asked.step == 0 else silent()
        if "Blue." not in asked.text:
            return say("@Bob which colour?", wait=True)
        if not failed:
            failed.append(asked)
            return Reply(status=500)
        return say("Blue it is.") if asked.step == 0 else silent()

    house.model.script = script
    await house.owner.say(space, "@Ann ask Bob for a colour")
    await house.model.until_asked(4)
    await house.until_idle()
    house.advance(2)
    await house.until_idle()
    first, second = await house.runs(ann)
    assert (first["status"], first["chainDepth"]) == ("failed", 2)
    assert (second["status"], second["chainDepth"], second["trigger"]["chainDepth"]) == ("completed", 2, 0)
    said = (await house.owner.history(space))["messages"][-1]
    assert (said["text"], said["chainDepth"]) == ("Blue it is.", 3)

"""J7: unusual models and configs block nothing, lose nothing, and are counted."""

from __future__ import annotations

import json

import pytest
import sqlalchemy as sa

from majlis import clock
from majlis.store.tables import agents
from majlis.store.transactions import Tx
from tests.model_server import Reply, say, sequence, silent
from tests.runs.failures import failing, notices
from tests.runs.house import House

pytestmark = pytest.mark.usefixtures("standing_clock")


async def test_j7_an_answer_that_a_filter_stopped_is_counted_all_the_same(house: House) -> None:
    """Its cost used to be missing: the usage of a failed run was 0."""
    stopped = {"choices": [{"delta": {}, "finish_reason": "content_filter"}]}
    usage = {"choices": [], "usage": {"prompt_tokens": 70, "completion_tokens": 5}}
    raw = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in (stopped, usage)) + "data: [DONE]\n\n"
    await failing(house, Reply(raw=raw.encode()))
    [run] = await house.runs()
    assert (run["error"]["code"], run["usage"]) == (
        "model_filtered",
        {"requests": 1, "inputTokens": 70, "cachedTokens": 0, "outputTokens": 5},
    )
    [step] = await house.owner.ok("GET", f"/api/runs/{run['id']}/steps")
    assert (step["state"], step["usage"]["inputTokens"]) == ("error", 70)


async def test_j7_a_config_that_cannot_be_read_fails_the_run_with_its_reason(house: House) -> None:
    """A config of another version of Majlis. The run used to be claimed again every 30 seconds, without a message."""
    scout = await house.agent("Scout")
    space = await house.space("Project Alpha", scout)
    await house.world.gateway.db.write(_spoil, scout.id)
    message = await house.owner.say(space, "Scout?")
    await house.until_idle()
    [run] = await house.runs()
    assert (run["status"], run["error"]["code"]) == ("failed", "invalid_config")
    assert "frobnicate" in run["error"]["message"]
    assert await house.deliveries(message) == [("Scout", "failed")]
    [notice] = await notices(house, space)
    assert notice["text"] == "Scout couldn't answer. An admin has been notified."


def _spoil(tx: Tx, agent_id: str) -> None:
    """Also removes what a claim needs: this used to block the work of all agents."""
    row = tx.execute(sa.select(agents.c.config).where(agents.c.id == agent_id)).one()
    kept = {key: value for key, value in row.config.items() if key not in ("limits", "mind")}
    changed = {"config": {**kept, "frobnicate": 1}, "version": agents.c.version + 1}
    tx.execute(agents.update().where(agents.c.id == agent_id).values(changed))


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param('{"text": ' + "[" * 500 + "]" * 500 + "}", id="nested too deep"),
        pytest.param('{"text": ["a\\u0000b"]}', id="a character that no database keeps"),
        pytest.param('{"text": "\\ud800"}', id="half a character"),
        pytest.param('{"text": 1e999}', id="no number"),
        pytest.param("[1, 2]", id="no object"),
    ],
)
async def test_j7_odd_arguments_are_a_result_that_the_model_can_mend(house: House, arguments: str) -> None:
    function = {"name": "send_message", "arguments": arguments}
    odd = {"choices": [{"delta": {"tool_calls": [{"index": 0, "id": "a\0b", "function": function}]}}]}
    end = {"choices": [{"delta": {}, "finish_reason": "tool_calls"}]}
    raw = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in (odd, end)) + "data: [DONE]\n\n"
    space, _ = await failing(house, Reply(raw=raw.encode()), say("Now it is right."))
    [run] = await house.runs()
    assert (run["status"], run["error"]) == ("completed", None)
    assert [text for _, text in await house.texts(space)] == ["Scout?", "Now it is right."]
    assert house.model.asked[1].results[0]["success"] is False
    steps = await house.owner.ok("GET", f"/api/runs/{run['id']}/steps")
    assert [step["state"] for step in steps if step["kind"] == "tool"] == ["error", "done"]


async def test_j7_characters_that_databases_refuse_are_removed_from_a_models_text(house: House) -> None:
    """A cycle stores them."""
    space, message = await failing(house, Reply(text="I looked\0 around."), mind="consciousness")
    [run] = await house.runs()
    assert (run["status"], run["error"]) == ("completed", None)
    [cycle] = (await house.owner.ok("GET", f"/api/agents/{run['agentId']}/consciousness"))["cycles"]
    assert cycle["summary"] == "I looked\ufffd around."
    assert await house.deliveries(message) == [("Scout", "passed")]
    assert space


@pytest.mark.parametrize("mind", ["timeline", "consciousness"])
async def test_j7_a_long_retry_after_postpones_the_delivery_without_holding_a_slot(house: House, mind: str) -> None:
    """It used to be asked every half minute, and the event had failed before the provider was ready."""
    scout = await house.agent("Scout", mind=mind, limits={"attempts": 2})
    space = await house.space("Project Alpha", scout)
    house.model.script = sequence(Reply(status=429, headers={"Retry-After": "120"}), silent())
    message = await house.owner.say(space, "Scout?")
    await house.until_idle()
    [run] = await house.runs()
    assert (run["error"]["code"], len(house.model.asked)) == ("model_rate_limited", 1)
    [delivery] = await house.owner.ok("GET", f"/api/messages/{message['id']}/deliveries")
    assert (delivery["state"], delivery["nextAttemptAt"]) == ("pending", clock.iso(clock.now() + 120_000))
    house.advance(120)
    await house.model.until_asked(2)
    await house.until_idle()
    assert await house.deliveries(message) == [("Scout", "passed")]

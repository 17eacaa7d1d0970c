"""X13: what a run was shown can be read back, byte for byte. Its cost is on steps, run and metrics."""

from __future__ import annotations

import json
import re
from typing import Any

from tests.model_server import Asked, Reply, call, calls, say, sequence, silent
from tests.runs.house import House


def sent(asked: Asked) -> str:
    """As JSON text, so that the order of keys counts too."""
    return json.dumps({"messages": asked.body["messages"], "tools": asked.body["tools"]}, ensure_ascii=False)


def kept(request: Any) -> str:
    return json.dumps({"messages": request["messages"], "tools": request["tools"]}, ensure_ascii=False)


async def test_x13_every_request_of_a_run_is_kept_as_it_was_sent_also_across_a_wait(house: House) -> None:
    scout = await house.agent("Scout", instructions='Say "é", 漢字 and \\n.', layout="classic")
    space = await house.space("Project Alpha", scout)
    house.model.script = sequence(
        Reply(text="Let me see. ✓", calls=[("get_memories", {}), ("launch_rocket", {})]),
        calls(("set_memories", {"memories": [{"key": "k", "value": "ü\u2028\u0007"}]})),
        say('Well, "you"?\n😀', wait=True),
        call("read_messages"),
        say("Thanks."),
        silent("done"),
    )
    await house.owner.say(space, "Ask me  about é\nand 漢字")
    await house.until_waiting()
    await house.owner.say(space, "Fine 😀")
    await house.until_idle()
    [run] = await house.runs()
    context = await house.owner.ok("GET", f"/api/runs/{run['id']}/context")
    assert len(context["requests"]) == len(house.model.asked) == 6
    assert [kept(request) for request in context["requests"]] == [sent(asked) for asked in house.model.asked]
    steps = await house.owner.ok("GET", f"/api/runs/{run['id']}/steps")
    assert [step["n"] for step in steps] == list(range(len(steps)))
    assert [request["step"] for request in context["requests"]] == [s["n"] for s in steps if s["kind"] == "model"]


async def test_x13_concurrent_runs_keep_a_context_each(house: House) -> None:
    space = await house.space("Project Alpha", await house.agent("Scout"))
    house.model.script = lambda asked: call("get_memories") if asked.step < 2 else silent()
    for n in range(3):
        await house.owner.say(space, f"message {n}")
    await house.until_idle()
    for run in await house.runs():
        context = await house.owner.ok("GET", f"/api/runs/{run['id']}/context")
        mine = [asked for asked in house.model.asked if asked.trigger_text == run["trigger"]["text"]]
        assert [kept(request) for request in context["requests"]] == [sent(asked) for asked in mine]


async def test_x13_the_request_that_failed_can_be_read_back_as_well(house: House) -> None:
    """It is the one that people want to inspect."""
    house.try_models_once()
    space = await house.space("Project Alpha", await house.agent("Scout"))
    house.model.script = sequence(call("get_memories"), Reply(status=400, text="I do not like this"))
    await house.owner.say(space, "Scout?")
    await house.until_idle()
    [run] = await house.runs()
    assert run["status"] == "failed"
    context = await house.owner.ok("GET", f"/api/runs/{run['id']}/context")
    assert [kept(request) for request in context["requests"]] == [sent(asked) for asked in house.model.asked]


async def test_x13_contexts_are_for_administrators_and_the_agent_itself(house: House) -> None:
    scout, sara = await house.agent("Scout"), await house.person("Sara")
    space = await house.space("Project Alpha", scout, sara)
    await house.owner.say(space, "Scout?")
    await house.until_idle()
    [run] = await house.runs()
    path = f"/api/runs/{run['id']}/context"
    assert (await sara.get(path)).status_code == 403
    assert (await scout.ok("GET", path)) == (await house.owner.ok("GET", path))


async def test_usage_is_on_every_step_and_summed_on_the_run_across_a_wait(house: House) -> None:
    space = await house.space("Project Alpha", await house.agent("Scout"))
    replies = [call("get_memories"), say("Well?", wait=True), silent()]
    for reply, usage in zip(replies, [(1000, 0, 30), (1100, 900, 40), (1300, 1024, 5)], strict=True):
        reply.usage = usage
    house.model.script = sequence(*replies)
    before = await metrics(house)
    await house.owner.say(space, "Ask me")
    await house.until_waiting()
    await house.owner.say(space, "Fine")
    await house.until_idle()
    [run] = await house.runs()
    assert run["usage"] == {"requests": 3, "inputTokens": 3400, "cachedTokens": 1924, "outputTokens": 75}
    steps = await house.owner.ok("GET", f"/api/runs/{run['id']}/steps")
    assert [step["usage"] for step in steps if step["kind"] == "model"] == [
        {"inputTokens": 1000, "cachedTokens": 0, "outputTokens": 30},
        {"inputTokens": 1100, "cachedTokens": 900, "outputTokens": 40},
        {"inputTokens": 1300, "cachedTokens": 1024, "outputTokens": 5},
    ]
    after = await metrics(house)
    grown = {name: value - before.get(name, 0) for name, value in after.items() if value != before.get(name, 0)}
    assert grown['majlis_tokens_total{kind="input"}'] == 3400
    assert grown['majlis_tokens_total{kind="cached"}'] == 1924
    assert grown['majlis_tokens_total{kind="output"}'] == 75
    assert grown['majlis_model_requests_total{outcome="answered"}'] == 3
    assert grown['majlis_tool_calls_total{outcome="done"}'] == 2
    assert grown['majlis_runs_settled_total{how="complete"}'] == 1


async def test_metrics_tell_how_long_agents_keep_people_waiting_and_how_many_wait(house: House) -> None:
    space = await house.space("Project Alpha", await house.agent("Scout"))
    before = await metrics(house)
    house.model.script = sequence(say("Well?", wait=True))
    await house.owner.say(space, "Ask me")
    await house.until_waiting()
    await house.until_idle()
    after = await metrics(house)
    assert after["majlis_run_delay_seconds_count"] > before["majlis_run_delay_seconds_count"]
    assert after["majlis_runs_waiting"] == 1


async def metrics(house: House) -> dict[str, float]:
    text = (await house.owner.get("/metrics")).text
    found = re.findall(r"^(majlis_\S+(?:\{.*\})?) (\S+)$", text, re.MULTILINE)
    return {name: float(value) for name, value in found}

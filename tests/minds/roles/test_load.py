"""Loading a scene of the roles mind: the right rows, few statements, and without damaged rows (R1, R3, R9)."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import Any

import pytest
import sqlalchemy as sa
import structlog

from majlis.inbox.turns import NewTurn, begin_turn
from majlis.minds.roles.load import load_scene, window_start
from majlis.minds.roles.perceive import perceive
from majlis.minds.roles.scene import Scene
from majlis.minds.timeline.scene import Look, Who
from majlis.spaces.members import leave
from majlis.spaces.phases import PhaseChange, change_phase
from majlis.spaces.shapes import MessageJson
from majlis.store.tables import members, messages, spaces
from majlis.store.transactions import Database, Tx
from tests.minds.places import Place, make_place, say_much, trigger_of
from tests.minds.roles.scenes import turns
from tests.minds.scenes import config
from tests.minds.test_load import counted, plan_of


@pytest.fixture
async def db_place(db: Database) -> Place:
    return await make_place(db)


async def look(place: Place, trigger: MessageJson, **settings: Any) -> Scene:
    return await place.db.snapshot(_load, place, trigger, **settings)


def _load(tx: Tx, /, place: Place, trigger: MessageJson, **settings: Any) -> Scene:
    agent = Who(place.agent.id, place.agent.name, "agent")
    given = config(mind="roles", **settings)
    return load_scene(tx, Look(agent, given, "run_this", trigger_of(trigger), trigger["spaceId"]))


def _knows(tx: Tx, place: Place, seq: int) -> None:
    mine = members.c.space_id == place.space, members.c.entity_id == place.agent.id
    tx.execute(members.update().where(*mine).values(processed_seq=seq))


async def test_r1_an_agent_that_has_never_run_here_has_no_state_and_sees_the_whole_history(db_place: Place) -> None:
    for text in ("one", "two"):
        await db_place.say(text)
    scene = await look(db_place, await db_place.say("three", db_place.sarah))
    assert scene.place is not None
    assert (scene.place.since, scene.place.session_id, scene.place.several_people) == (None, None, True)
    assert [text for _, text in turns(scene)] == ["[Husam]: one", "[Husam]: two", "[Sarah]: three"]


async def test_r5_nothing_after_the_trigger_is_loaded_however_late_the_run_is(db_place: Place) -> None:
    first = await db_place.say("one")
    await db_place.db.write(_knows, db_place, 1)
    trigger = await db_place.say("two")
    await db_place.say("three")
    await db_place.say("four", db_place.agent)
    scene = await look(db_place, trigger)
    assert [message.id for message in scene.history] == [first["id"]]
    assert scene.place is not None
    assert scene.place.spoke_since
    assert perceive(scene).shown == {db_place.space: 2}


async def test_r3_the_window_ends_at_the_trigger_and_begins_in_steps_of_half_its_size(db_place: Place) -> None:
    await db_place.db.write(say_much, db_place.husam, db_place.space, 59)
    trigger = await db_place.say("the sixtieth")
    await db_place.db.write(say_much, db_place.sarah, db_place.space, 500)
    scene = await look(db_place, trigger)
    assert [message.seq for message in scene.history] == list(range(26, 60))
    assert scene.left_out == 25


@pytest.mark.parametrize("window", [2, 3, 7, 50, 51])
def test_r3_a_window_is_filled_before_anything_is_left_out(window: int) -> None:
    """Half of fifty messages before the trigger used to be left out, and one of three."""
    starts = [window_start(config(window=window), trigger_seq) for trigger_seq in (1, window + 1, window + 2)]
    assert starts == [1, 1, window // 2 + 1]


async def test_the_beginning_stays_the_same_for_many_runs(db_place: Place) -> None:
    await db_place.db.write(say_much, db_place.husam, db_place.space, 80)
    starts = set()
    for _ in range(20):
        scene = await look(db_place, await db_place.say("more"))
        starts.add(scene.history[0].seq)
        assert 25 <= len(scene.history) < 50
    assert starts == {51}


async def test_r6_the_summary_of_the_last_change_is_shown_whichever_was_written_first(db_place: Place) -> None:
    await db_place.say("one")
    for phase, summary in (("plan", "Nothing yet."), ("build", "The plan is agreed.")):
        await db_place.db.write(change_phase, db_place.husam, db_place.space, PhaseChange(phase, summary=summary))
    trigger = await db_place.say("go")
    later = PhaseChange("review", summary="It is built.")
    await db_place.db.write(change_phase, db_place.husam, db_place.space, later)
    text = turns(await look(db_place, trigger))[-2][1]
    assert text == "=== HANDED OVER BY Husam ===\n\n**Previous context**: It is built.\n\n=== NEW INTERACTION ==="
    after = turns(await look(db_place, await db_place.say("and now?")))[-2][1]
    assert "**Previous context**: It is built." in after


async def test_r6_the_summary_is_shown_if_the_phase_was_changed_on_a_node_whose_clock_is_ahead(db_place: Place) -> None:
    """The next agent used to get the summary of the previous phase, or none."""

    def change_ahead(tx: Tx) -> None:
        tx.now += 5_000
        change_phase(tx, db_place.husam, db_place.space, PhaseChange("build", summary="The plan is agreed."))

    await db_place.db.write(change_ahead)
    text = turns(await look(db_place, await db_place.say("go")))[-2][1]
    assert (
        text == "=== HANDED OVER BY Husam ===\n\n**Previous context**: The plan is agreed.\n\n=== NEW INTERACTION ==="
    )


async def test_a7_a_space_that_the_agent_has_left_shows_nothing(db_place: Place) -> None:
    await db_place.say("before")
    said = await db_place.say("hello")
    await db_place.db.write(leave, db_place.space, db_place.agent.id)
    scene = await look(db_place, said)
    assert (scene.place, scene.history) == (None, ())
    assert perceive(scene).active_space_id is None


DAMAGE: dict[str, dict[str, Any]] = {
    "its tool is not an object": {"tool": "a word"},
    "its origin is not an object": {"origin": [1]},
}


@pytest.mark.parametrize("reason", DAMAGE)
async def test_r9_a_damaged_message_is_left_out_and_logged_and_shifts_nothing(db_place: Place, reason: str) -> None:
    said = [await db_place.say(text) for text in ("one", "two", "three")]
    await db_place.db.write(_knows, db_place, 1)
    trigger = await db_place.say("four")
    await db_place.db.write(_damage, said[1]["id"], DAMAGE[reason])
    with structlog.testing.capture_logs() as logs:
        scene = await look(db_place, trigger)
    _check_set_aside(scene, said[1], reason, logs)


BY_HAND = {
    "tool = '{\"broken'": "it cannot be read",
    "text = CAST(x'ff00fe' AS TEXT)": "it cannot be read",
    "text = x'ff00fe'": "its text is not a string",
    "created_at = 'yesterday'": "its time is not valid",
    "sender_id = 'ent_nobody'": "its sender is unknown",
}


@pytest.mark.parametrize("change", BY_HAND)
@pytest.mark.parametrize("engine", ["sqlite"])
async def test_r9_also_one_that_the_database_itself_cannot_read(
    db_place: Place, database_url: str, change: str
) -> None:
    """PostgreSQL refuses to store this; SQLite stores any bytes."""
    said = [await db_place.say(text) for text in ("one", "two", "three")]
    await db_place.db.write(_knows, db_place, 1)
    trigger = await db_place.say("four")
    with closing(sqlite3.connect(sa.make_url(database_url).database or "", isolation_level=None)) as editor:
        editor.execute(f"UPDATE messages SET {change} WHERE id = ?", (said[1]["id"],))
    with structlog.testing.capture_logs() as logs:
        scene = await look(db_place, trigger)
    _check_set_aside(scene, said[1], BY_HAND[change], logs)


def _check_set_aside(scene: Scene, damaged: MessageJson, reason: str, logs: list[Any]) -> None:
    [aside] = scene.damaged
    assert (aside.id, aside.seq) == (damaged["id"], 2)
    assert aside.reason.startswith(reason)
    [line] = [each for each in logs if "damaged" in each["event"]]
    assert (line["message"], line["number"]) == (damaged["id"], 2)
    assert line["reason"].startswith(reason)
    shown = [text for _, text in turns(scene)]
    assert shown[0] == "[Husam]: one"
    assert "(Husam): three\n" in shown[1]
    assert "two" not in "".join(shown)
    view = perceive(scene)
    assert view.shown == {damaged["spaceId"]: 4}
    assert view.notes == (f"Message {damaged['id']} is damaged and was left out: {aside.reason}.",)


def _damage(tx: Tx, message_id: str, values: dict[str, Any]) -> None:
    tx.execute(messages.update().where(messages.c.id == message_id).values(values))


async def test_a_scene_costs_the_same_statements_at_100_and_at_3000_messages(db_place: Place) -> None:
    counts = []
    for count in (100, 2_900):
        await db_place.db.write(say_much, db_place.husam, db_place.space, count)
        trigger = await db_place.say("more")
        with counted(db_place.db) as statements:
            await look(db_place, trigger)
        counts.append([each for each in statements if each.startswith(("SELECT", "WITH"))])
    assert counts[0] == counts[1]
    assert len(counts[0]) == 4


@pytest.mark.parametrize("engine", ["sqlite"])
async def test_every_read_goes_along_an_index_that_fits_it_for_a_member_and_for_an_orchestrator(
    db_place: Place,
) -> None:
    """PostgreSQL plans by the size of its tables, and these are small."""
    trigger = await db_place.say(f"see msg:{'msg_' + '0' * 16}")
    with counted(db_place.db) as statements:
        await look(db_place, trigger)
        await db_place.db.write(_orchestrate, db_place, trigger)
        await look(db_place, trigger)
    reads = [each for each in statements if each.startswith(("SELECT", "WITH"))]
    steps = [step for statement in reads for step in await db_place.db.read(plan_of, statement)]
    # The latter are the few rows of a subquery with a limit.
    small = "SCAN mine", "SCAN anon", "SCAN json_each"
    assert not [step for step in steps if step.startswith("SCAN") and not step.startswith(small)]
    assert any("ix_turns_open" in step for step in steps)
    assert any("ix_turns_request_id" in step for step in steps)


def _orchestrate(tx: Tx, place: Place, request: MessageJson) -> None:
    changed = {"triggers": "orchestrated", "orchestrator_id": place.agent.id}
    tx.execute(spaces.update().where(spaces.c.id == place.space).values(changed))
    new = NewTurn(place.space, request["id"], request["id"], "run_x", (place.agent.id,), None, None, 1)
    begin_turn(tx, new)

"""Loading a scene: the right rows, only what the agent may read, and few statements (X11, X12, A7)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest
import sqlalchemy as sa

from majlis.entities.caller import Caller
from majlis.minds.timeline.load import Shared, at_once, load_in_steps
from majlis.minds.timeline.perceive import perceive
from majlis.minds.timeline.scene import Goal, Memory, Plan, Resume, Scene
from majlis.models.estimate_tokens import estimate_turns
from majlis.models.port import System, User
from majlis.spaces.members import join, leave
from majlis.spaces.spaces import delete_space
from majlis.store.tables import entities, goals, members, memories, plans
from majlis.store.transactions import Database, Tx
from tests.minds.places import Place, add_agent, add_run, look_of, make_place, say_much, space_of
from tests.minds.view_text import history_of, seen_text
from tests.spaces.actors import add_caller


@pytest.fixture
async def place(db: Database) -> Place:
    return await make_place(db)


@contextmanager
def counted(db: Database) -> Iterator[list[str]]:
    statements: list[str] = []

    def note(_c: object, _cur: object, statement: str, *_: object) -> None:
        statements.append(statement)

    sa.event.listen(db.engine, "before_cursor_execute", note)
    try:
        yield statements
    finally:
        sa.event.remove(db.engine, "before_cursor_execute", note)


async def test_x4_the_window_and_the_cursor_come_from_the_space(place: Place) -> None:
    for n in range(5):
        said = await place.say(f"m{n}")
    await place.db.write(_process, place, 3)
    scene = await place.look(said)
    assert [message.text for message in scene.history] == ["m0", "m1", "m2", "m3", "m4"]
    assert scene.active is not None
    assert (scene.active.name, scene.active.total, scene.active.cursor) == ("Project Alpha", 5, 3)
    assert scene.auto_set
    assert perceive(scene).shown == {place.space: 5}
    lines = history_of(seen_text(scene))
    assert [line.rpartition("  ")[2] for line in lines] == ["[SEEN]"] * 3 + ["[NEW]", "[NEW] ← TRIGGER"]


async def test_x11_agents_of_one_space_share_the_read_of_its_messages(place: Place) -> None:
    """Each message was read and parsed once for every agent that it woke."""
    for n in range(5):
        said = await place.say(f"m{n}")
    second = await place.db.write(_second_agent, place)
    looks = [look_of(who, said, place.space) for who in (place.agent, second)]

    def load(tx: Tx, shared: Shared | None) -> list[Scene]:
        return [at_once(load_in_steps(tx, look, shared or Shared())) for look in looks]

    with counted(place.db) as apart:
        alone = await place.db.snapshot(load, None)
    with counted(place.db) as together:
        shared = await place.db.snapshot(load, Shared())
    assert [replace(each, now=0) for each in shared] == [replace(each, now=0) for each in alone]
    assert [message.text for message in shared[1].history] == ["m0", "m1", "m2", "m3", "m4"]
    assert len(together) == len(apart) - 1


async def test_m10_an_answer_that_fell_out_of_the_window_is_loaded_with_it(place: Place) -> None:
    """A run that was queued after its answer arrived used to see that there was a reply, but not the reply."""
    first, answer = await place.say("the trigger"), await place.say("the answer", place.sarah)
    await place.db.write(say_much, place.husam, place.space, 200)
    resume = Resume("replied", answer["id"], "Sarah")
    for layout, start in (("classic", 153), ("stable", 176)):
        with counted(place.db) as statements:
            scene = await place.look(first, layout=layout, resume=resume)
        assert [message.seq for message in scene.history] == [1, 2, *range(start, 203)]
        omitted, asked, answered, *_ = history_of(seen_text(scene))
        assert f"(… {start - 3} earlier messages are not shown" in omitted
        assert asked.endswith('"the trigger"  [NEW] ← TRIGGER')
        assert answered.endswith('"the answer"  [NEW] ← RESUME: Sarah replied. Continue from here.')
        assert len(statements) <= 8


async def test_x10_a_trigger_that_fell_out_of_the_window_is_loaded_with_it(place: Place) -> None:
    first = await place.say("the trigger")
    await place.db.write(say_much, place.sarah, place.space, 200)
    for layout, start in (("classic", 152), ("stable", 176)):
        scene = await place.look(first, layout=layout)
        assert [message.seq for message in scene.history] == [1, *range(start, 202)]
        assert history_of(seen_text(scene))[1].endswith('"the trigger"  [NEW] ← TRIGGER')


async def test_a7_a_space_that_the_agent_has_left_is_not_active_and_shows_nothing(place: Place) -> None:
    said = await place.say("hello")
    await place.db.write(leave, place.space, place.agent.id)
    scene = await place.look(said)
    assert (scene.active, scene.auto_set, scene.history, scene.spaces) == (None, False, (), ())


async def test_a7_a_deleted_space_is_not_active(place: Place) -> None:
    said = await place.say("hello")
    await place.db.write(delete_space, place.husam, place.space)
    assert (await place.look(said)).active is None


async def test_x12_quoted_messages_are_loaded_from_the_agents_own_spaces_only(place: Place) -> None:
    shared = await place.another_space("Shared", place.husam, place.agent)
    secret = await place.another_space("Secret", place.husam, place.sarah)
    known = await place.say("for all of us", space=shared)
    hidden = await place.say("not for agents", space=secret)
    said = await place.say(
        f"see msg:{known['id']} and /spaces/{secret}/messages/{hidden['id']} and msg:{'msg_' + '0' * 16}"
    )
    scene = await place.look(said)
    assert set(scene.quoted) == {known["id"]}
    assert f'(quotes msg:{known["id"]} by Husam: "for all of us")' in seen_text(scene)
    assert "not for agents" not in seen_text(scene)


async def test_m14_the_reason_for_own_words_is_found_by_id_and_lost_with_the_membership(place: Place) -> None:
    source = await place.another_space("Daily Reports", place.sarah, place.agent)
    asked = await place.say("tell the others", sender=place.sarah, space=source)
    origin = {"sourceSpace": source, "sourceEvent": asked["id"]}
    await place.say("Sarah says hello", sender=place.agent, origin=origin)
    said = await place.say("thanks")
    because = 'You: [sent because Sarah asked "tell the others" in "Daily Reports"]  [SEEN]\n    "Sarah says hello"'
    assert because in seen_text(await place.look(said))
    await place.db.write(leave, source, place.agent.id)
    text = seen_text(await place.look(said))
    assert "tell the others" not in text
    assert "Daily Reports" not in text


async def test_x5_a_crowd_shows_twenty_members_and_counts_the_rest(place: Place) -> None:
    def crowd(tx: Tx) -> None:
        for n in range(30):
            join(tx, place.space, add_caller(tx, f"Guest {n:02d}").id, "member")

    said = await place.say("hello")
    await place.db.write(crowd)
    (space,) = (await place.look(said)).spaces
    assert len(space.members) == 20
    assert space.more_members == 12, "33 in all, without the agent and the listed"
    assert [member.name for member in space.members] == sorted(member.name for member in space.members)
    assert place.agent.id not in {member.id for member in space.members}


async def test_x5_more_spaces_than_are_listed_are_counted(place: Place) -> None:
    def many(tx: Tx) -> None:
        for n in range(104):
            space_of(tx, f"Space {n}", place.agent)

    said = await place.say("hello")
    await place.db.write(many)
    scene = await place.look(said)
    assert (len(scene.spaces), scene.more_spaces) == (100, 5)
    assert scene.active is not None, "whether it is listed or not"


async def test_x6_goals_memories_and_plans_are_the_agents_own_and_active(place: Place) -> None:
    def keep(tx: Tx) -> None:
        who = {"agent_id": place.agent.id, "updated_at": 0}
        done = {**who, "id": "gol_2", "description": "Old", "status": "completed", "priority": 1, "long_term": False}
        active = {**done, "id": "gol_1", "description": "New", "status": "active", "long_term": True}
        tx.execute(goals.insert(), [done, active])
        tx.execute(memories.insert(), {**who, "key": "k", "value": "v"})
        plan = {"agent_id": place.agent.id, "instruction": "Do it", "created_at": 0, "status": "active"}
        often = {**plan, "id": "pln_1", "name": "Often", "cron": "0 9 * * *", "run_after": None, "next_at": 5}
        once = {**plan, "id": "pln_2", "name": "Once", "cron": None, "run_after": "2 hours", "next_at": 2**42}
        tx.execute(plans.insert(), [often, once, {**once, "id": "pln_3", "status": "completed", "next_at": None}])

    said = await place.say("hello")
    await place.db.write(keep)
    scene = await place.look(said)
    assert scene.goals == (Goal("gol_1", "New", 1, True),)
    assert scene.memories == (Memory("k", "v"),)
    assert set(scene.plans) == {
        Plan("pln_1", "Often", "Do it", "0 9 * * *", None, 5),
        Plan("pln_2", "Once", "Do it", None, "2 hours", 2**42),
    }


async def test_x6_a_waiting_run_names_its_requester_first_and_counts_the_others(place: Place) -> None:
    """In larger spaces it used to name the first three members in alphabetical order only."""
    said = await place.say("What was the revenue?", place.sarah)
    for name in ("Ahmad", "Bilal", "Omar"):
        await place.db.write(_let_in, place, name)
    await place.db.write(add_run, place.agent, said, "waiting_reply", wait_space_id=place.space)
    [line] = [line for line in seen_text(await place.look(said)).splitlines() if "waiting_reply" in line]
    assert line.endswith('waiting_reply in "Project Alpha" (waiting for Sarah, Ahmad, Bilal, and 2 others)')


async def test_t8_other_active_runs_are_listed_with_the_members_they_wait_for(place: Place) -> None:
    said = await place.say("hello")
    waiting = await place.db.write(add_run, place.agent, said, "waiting_reply", wait_space_id=place.space)
    running = await place.db.write(add_run, place.agent, said, "running")
    await place.db.write(add_run, place.agent, said, "completed")
    others = (await place.look(said)).other_runs
    assert [(run.id, run.status, run.wait_space_name, run.waiting_for) for run in others] == [
        (waiting, "waiting_reply", "Project Alpha", ("Husam", "Sarah")),
        (running, "running", None, ()),
    ]


async def test_x11_a_context_costs_the_same_statements_at_100_and_at_20000_messages(place: Place) -> None:
    counts = []
    for more in (99, 19_900):
        await place.db.write(say_much, place.husam, place.space, more)
        said = await place.say(f"see msg:{'msg_' + '0' * 16}")
        await place.db.snapshot(place.load, said)
        with counted(place.db) as statements:
            scene = await place.db.snapshot(place.load, said)
        counts.append([statement for statement in statements if statement.startswith(("SELECT", "WITH"))])
        assert len(scene.history) <= 50
    assert counts[0] == counts[1]
    assert len(counts[0]) == 5


async def test_x11_even_a_trigger_out_of_the_window_keeps_it_within_eight_statements(place: Place) -> None:
    said = await place.say(f"see msg:{'msg_' + '0' * 16}")
    await place.db.write(say_much, place.husam, place.space, 300)
    with counted(place.db) as statements:
        await place.look(said)
    assert len([statement for statement in statements if statement.startswith(("SELECT", "WITH"))]) == 6


async def test_x4_messages_keep_the_name_of_a_deleted_sender(place: Place) -> None:
    await place.say("my last words", sender=place.sarah)
    said = await place.say("farewell")
    gone = entities.update().where(entities.c.id == place.sarah.id).values(deleted_at=1)
    await place.db.write(lambda tx: tx.execute(gone).rowcount)
    assert f'Sarah (human, id:{place.sarah.id}): "my last words"' in seen_text(await place.look(said))


async def test_x11_every_read_goes_along_an_index_that_fits_it(place: Place) -> None:
    """The other runs of an agent used to be searched among all its runs."""
    if place.db.dialect != "sqlite":
        return  # PostgreSQL plans by the size of its tables, and these are small.
    said = await place.say(f"see msg:{'msg_' + '0' * 16}")
    with counted(place.db) as statements:
        await place.look(said)
    plans = [await place.db.read(plan_of, statement) for statement in statements]
    # The agent's own spaces, and the ids in a parameter.
    small = "SCAN mine", "SCAN json_each"
    assert not [step for plan in plans for step in plan if step.startswith("SCAN") and not step.startswith(small)]
    assert ["SEARCH runs USING INDEX ix_runs_agent_id (agent_id=?)"] in plans


def plan_of(tx: Tx, statement: str) -> list[str]:
    values = ("x",) * statement.count("?")
    return [row[-1] for row in tx.conn.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", values)]


def _second_agent(tx: Tx, place: Place) -> Caller:
    agent = add_agent(tx, "Scout")
    join(tx, place.space, agent.id, "member")
    return agent


def _process(tx: Tx, place: Place, seq: int) -> None:
    mine = members.c.space_id == place.space, members.c.entity_id == place.agent.id
    tx.execute(members.update().where(*mine).values(processed_seq=seq))


def _let_in(tx: Tx, place: Place, name: str) -> None:
    join(tx, place.space, add_caller(tx, name).id, "member")


async def test_f4_x11_two_places_and_an_answer_from_long_ago_take_at_most_eight_statements(place: Place) -> None:
    desk = await place.another_space("Desk", place.husam, place.agent)
    await place.db.write(say_much, place.husam, desk, 40)
    said = await place.say(f"see msg:{'msg_' + '0' * 16}", space=desk)
    await place.db.write(say_much, place.husam, desk, 40)
    answer = await place.say("the answer", place.sarah)
    await place.db.write(say_much, place.husam, place.space, 200)
    with counted(place.db) as statements:
        scene = await place.look(said, active=place.space, resume=Resume("replied", answer["id"], "Sarah"))
    assert len([each for each in statements if each.startswith(("SELECT", "WITH"))]) <= 8
    assert scene.asked is not None
    assert [message.seq for message in scene.asked.history] == [*range(31, 62)]
    assert perceive(scene).shown == {place.space: 201, desk: 61}
    text = seen_text(scene)
    assert "  (… 30 earlier messages are not shown; read_messages shows more)\n" in text
    assert "  (… 20 later messages are not shown; read_messages shows more)\n" in text


async def test_f1_f4_both_places_fit_into_one_budget(place: Place) -> None:
    desk = await place.another_space("Desk", place.husam, place.agent)
    for n in range(12):
        await place.say(f"before {n} " + "long " * 1_000, space=desk)
    said = await place.say("Ask Sarah for the numbers", space=desk)
    for n in range(60):
        await place.say(f"here {n} " + "long " * 1_000)
    scene = await place.look(said, active=place.space)
    view = perceive(scene, 4_000)
    text = "\n".join(turn.text for turn in view.turns if isinstance(turn, System | User))
    assert estimate_turns(view.turns) <= 4_000
    assert '"Ask Sarah for the numbers"  [NEW] ← TRIGGER' in text
    assert "here 59" in text

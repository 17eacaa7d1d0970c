"""The promises of docs/guarantees.md, checked after a schedule. Each check yields what it found broken."""

from __future__ import annotations

import sqlite3
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import orjson

from majlis.prove.changes import Change, History
from majlis.prove.model import TASK
from majlis.prove.node import owner_of
from majlis.prove.people import Follower, Sent
from majlis.prove.world import World
from majlis.runs.run import MAX_HOLDS

_OVER = ("completed", "failed", "canceled")
_WAITING = ("waiting_reply", "waiting_tool")
_BY_WORKER = ("completed", "failed", *_WAITING)
_SETTLED = ("done", "passed")


@dataclass
class Evidence:
    world: World
    db: sqlite3.Connection
    history: History
    sent: list[Sent]
    followers: list[Follower]
    effects: list[tuple[str, str, str]]

    def count(self, text: str) -> int:
        row = self.db.execute("SELECT count(*) FROM messages WHERE text = ? AND kind = 'text'", (text,)).fetchone()
        return int(row[0])

    def changes(self, kind: str) -> dict[str, list[Change]]:
        """The changes by id, in order."""
        found: dict[str, list[Change]] = defaultdict(list)
        for change in self.history.changes:
            if change.kind == kind:
                found[change.id].append(change)
        return found


def check(evidence: Evidence) -> list[str]:
    return [f"{name}: {problem}" for name, promise in PROMISES.items() for problem in promise(evidence)]


def posted_once(evidence: Evidence) -> Iterator[str]:
    """A message that was acknowledged is stored once, however often it was sent."""
    for sent in evidence.sent:
        rows = evidence.db.execute(
            "SELECT id FROM messages WHERE text = ? AND sender_id = ?", (sent.text, sent.sender.id)
        ).fetchall()
        if len(rows) != 1 or set(sent.acknowledged) != {rows[0]["id"]}:
            yield f"{sent.text!r} is stored {len(rows)} times"


def answered_once(evidence: Evidence) -> Iterator[str]:
    """Every agent that a message triggers answers it once. An answer may be missing if the delivery failed, which the
    space shows, or if a person canceled the run."""
    for sent in evidence.sent:
        task = TASK.match(sent.text)
        if task is None:
            continue
        verb = "answers chat" if task[1] == "chat" else "answers"
        for name, agent_id in evidence.world.agents.items():
            count = evidence.count(f"{name} {verb} {task[2]}")
            if count > 1:
                yield f"{name} answered {sent.text!r} {count} times"
            elif count == 0 and not _is_excused(evidence, agent_id, sent):
                yield f"{name} did not answer {sent.text!r}"


def _is_excused(evidence: Evidence, agent_id: str, sent: Sent) -> bool:
    row = evidence.db.execute(
        "SELECT d.state, d.space_id, d.message_id, r.status FROM deliveries d LEFT JOIN runs r ON r.id = d.run_id "
        "WHERE d.agent_id = ? AND d.message_id = ?",
        (agent_id, sent.acknowledged[0]),
    ).fetchone()
    if row is None:
        return False
    if row["state"] == "failed":
        notices = "SELECT 1 FROM messages WHERE space_id = ? AND kind = 'notice' AND reply_to = ?"
        return evidence.db.execute(notices, (row["space_id"], row["message_id"])).fetchone() is not None
    return bool(row["status"] == "canceled")


def delivered_once(evidence: Evidence) -> Iterator[str]:
    """A delivery that is settled stays settled. Its run settles it in the transaction that ends the run."""
    ended = {(each.transaction, each.id) for each in evidence.history.changes if each.after in _OVER}
    for key, changes in evidence.changes("delivery").items():
        for change in changes:
            if change.before in _SETTLED and change.after != change.before:
                yield f"{key} went from {change.before} to {change.after}"
            if change.after in _SETTLED and change.more is not None and (change.transaction, change.more) not in ended:
                yield f"{key} is {change.after}, but {change.more} has not ended"
        if changes[-1].after not in (*_SETTLED, "failed", "collected", "withdrawn"):
            yield f"{key} ended as {changes[-1].after}"


def runs_end_once(evidence: Evidence) -> Iterator[str]:
    """A run ends once, a wait ends once, and every claim has a fence of its own."""
    for key, changes in evidence.changes("run").items():
        for before, change in zip([None, *changes], changes, strict=False):
            if change.before in _OVER:
                yield f"{key} went from {change.before} to {change.after}"
            if change.before == "running" and change.after in _BY_WORKER and change.owner != owner_of(change.node):
                yield f"{key} is {change.after} by {change.node}, but {change.owner} had its lease"
            if change.before in _WAITING and change.after not in ("queued", "canceled"):
                yield f"{key} went from {change.before} to {change.after}"
            if (
                before is not None
                and change.before == "queued"
                and change.after == "running"
                and change.more == before.more
            ):
                yield f"{key} was claimed twice with fence {change.more}"
        if changes[-1].after not in _OVER:
            yield f"{key} ended as {changes[-1].after}"
    for change in evidence.history.changes:
        if change.kind == "lease" and change.owner != owner_of(change.node):
            yield f"{change.id} was written by {change.node}, but {change.owner} had its lease"
    for key, changes in evidence.changes("card").items():
        if len(changes) > 1:
            yield f"card {key} was closed {len(changes)} times"


def waits_keep_answers(evidence: Evidence) -> Iterator[str]:
    """A run asks its question once, and its journal says how the wait ended."""
    asked = evidence.db.execute("SELECT text, count(*) AS n FROM messages WHERE text LIKE '% asks #%' GROUP BY text")
    for row in asked:
        if row["n"] > 1:
            yield f"{row['text']!r} was asked {row['n']} times"
    for row in evidence.db.execute("SELECT id, wait FROM runs WHERE wait IS NOT NULL AND status = 'completed'"):
        if "outcome" not in orjson.loads(row["wait"]):
            yield f"{row['id']} completed, but its wait has no outcome"


def effects_once(evidence: Evidence) -> Iterator[str]:
    """A call that is not idempotent is made at most once; an idempotent one is repeated only with its key."""
    for (tool, order), keys in _keys(evidence).items():
        if tool == "charge" and len(keys) > 1:
            yield f"{order!r} was charged {len(keys)} times"
        if len(set(keys)) > 1:
            yield f"{order!r} was repeated with another key"
    known = {(tool, key) for tool, _, key in evidence.effects}
    done = "SELECT run_id, n, name FROM steps WHERE name IN ('charge', 'stamp') AND state = 'done'"
    for row in evidence.db.execute(done):
        if (row["name"], f"{row['run_id']}:{row['n']}") not in known:
            yield f"{row['run_id']} has a result of {row['name']} that was never called"


def _keys(evidence: Evidence) -> dict[tuple[str, str], list[str]]:
    found: dict[tuple[str, str], list[str]] = defaultdict(list)
    for tool, order, key in evidence.effects:
        found[tool, order].append(key)
    return found


def plans_fire_once(evidence: Evidence) -> Iterator[str]:
    for row in evidence.db.execute("SELECT id, name, agent_id FROM plans"):
        query = "SELECT count(*), max(state) FROM deliveries WHERE type = 'plan' AND agent_id = ? AND event_id LIKE ?"
        count, state = evidence.db.execute(query, (row["agent_id"], f"{row['id']}@%")).fetchone()
        if count != 1:
            yield f"{row['name']} fired {count} times"
        name, _, tag = row["name"].partition(" plan ")
        said = evidence.count(f"{name} reminds {tag}")
        if said > 1 or (said == 0 and state == "done"):
            yield f"{name} reminded of {tag} {said} times"


def cursors_follow(evidence: Evidence) -> Iterator[str]:
    """An agent's cursor never goes back, and moves only in a transaction that completes one of its runs."""
    completed = {
        (change.transaction, change.of)
        for change in evidence.history.changes
        if change.kind == "run" and change.after == "completed"
    }
    agents = set(evidence.world.agents.values())
    for changes in evidence.changes("cursor").values():
        for change in changes:
            if change.of not in agents:
                continue
            if change.before is not None and int(change.after or 0) < int(change.before):
                yield f"the cursor of {change.of} went from {change.before} to {change.after}"
            if (change.transaction, change.of) not in completed:
                yield f"the cursor of {change.of} moved to {change.after}, but no run was completed"


def numbers_whole(evidence: Evidence) -> Iterator[str]:
    """Messages and events of a space, and steps of a run, are numbered without holes."""
    for row in evidence.db.execute(
        "SELECT s.id, s.head_seq, s.event_seq, (SELECT count(*) FROM messages m WHERE m.space_id = s.id) AS messages, "
        "(SELECT count(*) FROM events e WHERE e.topic = s.id) AS events FROM spaces s"
    ):
        if row["messages"] != row["head_seq"] or row["events"] != row["event_seq"]:
            yield f"{row['id']} has {row['messages']} messages up to {row['head_seq']}"
            yield f"{row['id']} has {row['events']} events up to {row['event_seq']}"
    for row in evidence.db.execute("SELECT run_id, count(*) AS n, max(n) AS last FROM steps GROUP BY run_id"):
        if row["n"] != row["last"] + 1:
            yield f"{row['run_id']} has {row['n']} steps up to {row['last']}"


def streams_whole(evidence: Evidence) -> Iterator[str]:
    """A client that follows a space gets every event once, in order, as it was logged."""
    for follower in evidence.followers:
        yield from follower.problems
        rows = evidence.db.execute("SELECT seq, data FROM events WHERE topic = ?", (follower.space_id,))
        logged = {row["seq"]: row["data"] for row in rows}
        for seq, data in follower.events.items():
            if logged.get(seq) != data:
                yield f"event {seq} of {follower.space_id} was sent, but it was never committed"


def limits_hold(evidence: Evidence) -> Iterator[str]:
    """An agent never has more runs at work than its limit, a consciousness one."""
    limits = {
        agent: 1 if evidence.world.minds[name] == "consciousness" else 2
        for name, agent in evidence.world.agents.items()
    }
    working: dict[str, set[str]] = defaultdict(set)
    most: Counter[str] = Counter()
    by_transaction: dict[int, list[Change]] = defaultdict(list)
    for change in evidence.history.changes:
        if change.kind == "run":
            by_transaction[change.transaction].append(change)
    for changes in by_transaction.values():
        for change in changes:
            (working[change.of].add if change.after == "running" else working[change.of].discard)(change.id)
        for agent in {change.of for change in changes}:
            most[agent] = max(most[agent], len(working[agent]))
    for agent, count in most.items():
        if count > limits.get(agent, count):
            yield f"{agent} had {count} runs at work"


def held_briefly(evidence: Evidence) -> Iterator[str]:
    """A run's messages are held twice at most, and a message is marked as crossed only after that."""
    held = "SELECT run_id, count(*) AS n FROM steps WHERE json_extract(output, '$.status') = 'held' GROUP BY run_id"
    for row in evidence.db.execute(held):
        if row["n"] > MAX_HOLDS:
            yield f"messages of {row['run_id']} were held {row['n']} times"
    for row in evidence.db.execute("SELECT id, run_id FROM messages WHERE crossed"):
        count = "SELECT count(*) FROM steps WHERE run_id = ? AND json_extract(output, '$.status') = 'held'"
        if evidence.db.execute(count, (row["run_id"],)).fetchone()[0] < MAX_HOLDS:
            yield f"{row['id']} crossed another message, but its run was not held before"


PROMISES: dict[str, Callable[[Evidence], Iterator[str]]] = {
    "posted once": posted_once,
    "answered once": answered_once,
    "delivered once": delivered_once,
    "runs end once": runs_end_once,
    "waits keep answers": waits_keep_answers,
    "effects once": effects_once,
    "plans fire once": plans_fire_once,
    "cursors follow": cursors_follow,
    "numbers whole": numbers_whole,
    "streams whole": streams_whole,
    "limits hold": limits_hold,
    "held briefly": held_briefly,
}

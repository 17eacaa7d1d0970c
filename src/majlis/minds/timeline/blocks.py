"""The blocks other than history and trigger (X1, X3, X5, X6). They are sorted by fields that do not change, so that two
runs share the same text."""

from __future__ import annotations

from collections.abc import Iterable

from majlis.clock import Millis, iso
from majlis.minds.quote import bare, quote
from majlis.minds.timeline.scene import ActiveSpace, OtherRun, OwnSpace, Plan, Scene
from majlis.minds.timeline.trigger_block import triggered_by


def identity_block(scene: Scene) -> str:
    lines = ["IDENTITY:", f"  name: {quote(scene.agent.name)}", f"  entityId: {quote(scene.agent.id)}"]
    if scene.config.timezone != "UTC":
        # The agent's cron schedules use it.
        lines.append(f"  timezone: {quote(scene.config.timezone)}")
    return "\n".join(lines)


def current_time(scene: Scene) -> str:
    return f"  currentTime: {quote(iso(scene.now))}"


def active_space_block(active: ActiveSpace | None, auto_set: bool = False, phase: str | None = None) -> str:
    if active is None:
        return "ACTIVE SPACE: none (call enter_space to enter a space first)"
    set_by = "  [auto-set from trigger]" if auto_set else ""
    in_phase = f", phase: {quote(phase)}" if phase else ""
    return f"ACTIVE SPACE: {quote(active.name)} (id: {active.id}){in_phase}{set_by}"


def spaces_block(scene: Scene) -> str:
    active = scene.active.id if scene.active else None
    spaces = sorted(scene.spaces, key=lambda space: (space.name, space.id))
    lines = [_space(space, space.id == active) for space in spaces] or ["  (none)"]
    if scene.more_spaces:
        lines.append(f"  (and {scene.more_spaces} more that are not listed)")
    return "\n".join(["YOUR SPACES:", *lines])


def goals_block(scene: Scene) -> str | None:
    goals = sorted(scene.goals, key=lambda goal: (-goal.priority, goal.id))
    return _listed(
        "GOALS:",
        (
            f"{bare(goal.description)} ({'long-term, ' if goal.long_term else ''}priority: {goal.priority})"
            for goal in goals
        ),
    )


def memories_block(scene: Scene) -> str | None:
    memories = sorted(scene.memories, key=lambda memory: memory.key)
    return _listed("MEMORIES:", (f"[{_key(memory.key)}] {bare(memory.value)}" for memory in memories))


def plans_block(scene: Scene, countdown: bool = False) -> str | None:
    """`countdown` adds the time until each plan, which changes with every prompt."""
    plans = sorted(scene.plans, key=lambda plan: (plan.next_at, plan.id))
    return _listed("PLANS:", (_plan(plan, scene.now if countdown else None) for plan in plans))


def runs_block(scene: Scene) -> str:
    this = f"  - Run {scene.run_id} (this run) — {triggered_by(scene.trigger)}"
    others = sorted(scene.other_runs, key=lambda run: run.id)
    return "\n".join(["ACTIVE RUNS:", this, *(f"  - Run {run.id} — {_doing(run)}" for run in others)])


def _listed(heading: str, items: Iterable[str]) -> str | None:
    lines = [f"  - {item}" for item in items]
    return "\n".join([heading, *lines]) if lines else None


def _key(key: str) -> str:
    return quote(key) if "[" in key or "]" in key else bare(key)


def _space(space: OwnSpace, active: bool) -> str:
    others = sorted(space.members, key=lambda member: (member.name, member.id))
    members = [*(f"{member.name} ({member.type})" for member in others), "You"]
    if space.more_members:
        members.append(f"and {space.more_members} other{'s' if space.more_members > 1 else ''}")
    return f"  - {quote(space.name)} (id: {space.id}){' [ACTIVE]' if active else ''} — {', '.join(members)}"


def _plan(plan: Plan, now: Millis | None) -> str:
    if plan.cron is not None:
        when = f"recurring, cron: {bare(plan.cron)}, next: {iso(plan.next_at)}"
    else:
        when = f"one-time, scheduledAt: {iso(plan.next_at)}"
    made = f"  [created via runAfter: {quote(plan.run_after)}]" if plan.run_after else ""
    until = f", {_until(plan.next_at - now)}" if now is not None else ""
    return f"{quote(plan.name)} ({when}{until}){made}"


def _until(millis: Millis) -> str:
    minutes = millis // 60_000
    if minutes < 1:
        return "due now" if millis <= 0 else "in less than 1m"
    if minutes < 60:
        return f"in {minutes}m"
    hours, minutes = divmod(minutes, 60)
    if hours < 48:
        return f"in {hours}h {minutes:02d}m"
    return f"in {hours // 24}d {hours % 24:02d}h"


def _doing(run: OtherRun) -> str:
    where = f" in {quote(run.wait_space_name)}" if run.wait_space_name else ""
    if run.status == "waiting_reply" and where:
        awaited = f" (waiting for {', '.join(run.waiting_for)})" if run.waiting_for else ""
        return f"waiting_reply{where}{awaited}"
    return f"{run.status}{where}, {triggered_by(run.trigger)}"

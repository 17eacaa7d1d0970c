"""Lists spaces with their members, last message and unread count: two queries, however many spaces.

The unread count is the number of the space's newest message minus the member's read position. Posting moves the
sender's own position, so every message after it is from another member (C4).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa

from majlis.clock import iso
from majlis.entities.caller import Caller, require_administrator
from majlis.spaces.access import unknown_space
from majlis.spaces.damaged_rows import Unreadable, all_sound, reading, sound
from majlis.spaces.members import SELECT_MEMBERS
from majlis.spaces.shapes import MemberJson, SpaceJson, SpaceOutlineJson, member_json, message_json, space_facts
from majlis.store.hot import hot
from majlis.store.tables import entities, members, messages, spaces
from majlis.store.transactions import Tx

_mine = members.alias("mine")
_seen = messages.alias("seen")
_last = messages.alias("last")
_named = messages.alias("named")
# The newest messages in which unread mentions are looked for.
_MENTIONS_IN = 500
_UNREAD_MENTIONS = (
    sa.select(sa.func.aggregate_strings(sa.cast(_named.c.seq, sa.String), sa.literal_column("','")))  # type: ignore[arg-type]
    .where(
        _named.c.space_id == spaces.c.id,
        _named.c.seq > _mine.c.seen_seq,
        _named.c.seq > spaces.c.head_seq - _MENTIONS_IN,
        _named.c.mentions.is_not(None),
        sa.cast(_named.c.mentions, sa.Text).contains(_mine.c.entity_id),
    )
    .correlate(spaces, _mine)
    .scalar_subquery()
)

_SPACES = (
    sa.select(
        *(column.label(f"s_{column.name}") for column in spaces.c),
        _mine.c.role.label("my_role"),
        _mine.c.seen_seq,
        _seen.c.id.label("seen_id"),
        _UNREAD_MENTIONS.label("unread_mentions"),
        *(column for column in _last.c),
        entities.c.name.label("sender_name"),
        entities.c.type.label("sender_type"),
    )
    .select_from(_mine)
    .join(spaces, spaces.c.id == _mine.c.space_id)
    .outerjoin(_seen, sa.and_(_seen.c.space_id == spaces.c.id, _seen.c.seq == _mine.c.seen_seq))
    .outerjoin(_last, sa.and_(_last.c.space_id == spaces.c.id, _last.c.seq == spaces.c.head_seq))
    .outerjoin(entities, entities.c.id == _last.c.sender_id)
    .where(_mine.c.entity_id == sa.bindparam("entity_id"), spaces.c.deleted_at.is_(None))
)
_ALL_SPACES = hot(_SPACES.order_by(spaces.c.event_at.desc(), spaces.c.id))
_place = spaces.alias("place")
_PLACE = sa.select(_place.c.event_at).where(_place.c.id == sa.bindparam("after")).scalar_subquery()
_BEHIND = sa.or_(spaces.c.event_at < _PLACE, sa.and_(spaces.c.event_at == _PLACE, spaces.c.id > sa.bindparam("after")))
_ONE_SPACE = hot(_SPACES.where(spaces.c.id == sa.bindparam("space_id")))
_IDS = _ALL_SPACES.with_only_columns(spaces.c.id)
_last_columns = {*_last.c.keys(), "sender_name", "sender_type"}
_WITHOUT_LAST = _ONE_SPACE.with_only_columns(
    *(
        sa.null().label(column.name) if column.name in _last_columns else column
        for column in _ONE_SPACE.selected_columns
    )
)

_ALL_MEMBERS = hot(
    SELECT_MEMBERS.join(_mine, _mine.c.space_id == members.c.space_id)
    .where(_mine.c.entity_id == sa.bindparam("entity_id"))
    .order_by(members.c.joined_at, members.c.entity_id)
)
_ONE_SPACE_MEMBERS = hot(_ALL_MEMBERS.where(_mine.c.space_id == sa.bindparam("space_id")))


_OUTLINE = [
    spaces.c[name]
    for name in ("id", "name", "description", "triggers", "direct_key", "paused_at", "head_seq", "created_at")
]
_OUTLINES = sa.select(*_OUTLINE).where(spaces.c.deleted_at.is_(None)).order_by(spaces.c.id)


def list_spaces(tx: Tx, caller: Caller, limit: int | None = None, after: str | None = None) -> list[SpaceJson]:
    """The most recently active first. `limit` makes a page, and `after` is the last space of the previous page. A space
    that becomes active meanwhile moves to the first page."""
    who: dict[str, Any] = {"entity_id": caller.id}
    page, ids, in_page = _ALL_SPACES, _IDS, _ALL_MEMBERS
    if after is not None:
        who["after"] = after
        page, ids = page.where(_BEHIND), ids.where(_BEHIND)
    if limit is not None:
        page, ids = page.limit(limit), ids.limit(limit)
        in_page = _ALL_MEMBERS.where(_mine.c.space_id.in_(sa.bindparam("page", expanding=True)))
    try:
        with reading():
            rows = tx.all(page, who)
            all_sound([row for row in rows if row.id is not None])
    except Unreadable:
        rows = [_row(tx, {"entity_id": caller.id, "space_id": row.id}) for row in tx.all(ids, who)]
    grouped = _by_space(tx.all(in_page, {**who, "page": [row.s_id for row in rows]} if limit is not None else who))
    return [_space_json(row, grouped[row.s_id], caller.id) for row in rows]


def space_json(tx: Tx, caller: Caller, space_id: str) -> SpaceJson:
    which = {"entity_id": caller.id, "space_id": space_id}
    row = _row(tx, which)
    if row is None:
        raise unknown_space(space_id)
    return _space_json(row, _by_space(tx.all(_ONE_SPACE_MEMBERS, which))[space_id], caller.id)


def list_all_spaces(tx: Tx, caller: Caller, after: str | None, limit: int) -> list[SpaceOutlineJson]:
    """All spaces of the gateway, oldest first, without their messages. For admins."""
    require_administrator(caller)
    rows = tx.all(_OUTLINES.limit(limit) if after is None else _OUTLINES.where(spaces.c.id > after).limit(limit))
    if not rows:
        return []
    between = members.c.space_id.between(rows[0].id, rows[-1].id)
    grouped = _by_space(tx.all(SELECT_MEMBERS.where(between).order_by(members.c.joined_at, members.c.entity_id)))
    return [
        {
            "id": row.id,
            "name": row.name,
            "description": row.description,
            "triggers": row.triggers,
            "direct": row.direct_key is not None,
            "paused": row.paused_at is not None,
            "members": grouped[row.id],
            "messageCount": row.head_seq,
            "createdAt": iso(row.created_at),
        }
        for row in rows
    ]


def _row(tx: Tx, which: dict[str, str]) -> Any:
    """Leaves out the last message if it is damaged (R9)."""
    try:
        with reading():
            row = tx.one(_ONE_SPACE, which)
            return row if row is None or row.id is None else sound(row)
    except Unreadable:
        return tx.one(_WITHOUT_LAST, which)


def _by_space(rows: Sequence[sa.Row[Any]]) -> dict[str, list[MemberJson]]:
    grouped: dict[str, list[MemberJson]] = defaultdict(list)
    for row in rows:
        grouped[row.space_id].append(member_json(row))
    return grouped


def _space_json(row: sa.Row[Any], everyone: list[MemberJson], viewer: str) -> SpaceJson:
    facts = space_facts(row, "s_")
    if facts["direct"]:
        facts["name"] = next((each["name"] for each in everyone if each["id"] != viewer), facts["name"])
    return {
        **facts,
        "role": row.my_role,
        "members": everyone,
        "unreadCount": row.s_head_seq - row.seen_seq,
        "unreadMentions": sorted(map(int, row.unread_mentions.split(","))) if row.unread_mentions else [],
        "lastMessage": message_json(row) if row.id is not None else None,
        "lastSeenMessageId": row.seen_id,
        "lastSeenSeq": row.seen_seq,
        "eventSeq": row.s_event_seq,
    }

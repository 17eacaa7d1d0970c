"""What a client knows of its spaces: loaded once, then kept up to date by events. Pure; it fetches nothing itself.

Load after the stream has said `connected`, then apply what comes: an event that the loaded state contains already
changes nothing. A space's events carry numbers (`eventSeq`), and so does the space as it was loaded; read positions,
which are one's own notices, only grow.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from majlis.client.sse import Event

if TYPE_CHECKING:
    from majlis.client.shapes import MemberJson, MessageJson, SpaceFactsJson, SpaceJson


@dataclass(slots=True)
class SpaceState:
    facts: SpaceFactsJson
    # In the order of joining.
    members: dict[str, MemberJson]
    head_seq: int
    seen_seq: int
    last_seen_message_id: str | None
    last_message: MessageJson | None
    # The newest event that this state contains.
    event_seq: int
    # By number; None while the history has not been loaded.
    messages: dict[int, MessageJson] | None

    @property
    def unread(self) -> int:
        # A read position may be heard of before the message it points at.
        return max(0, self.head_seq - self.seen_seq)

    def add(self, message: MessageJson) -> None:
        if message["seq"] > self.head_seq or _continues(message, self.last_message):
            self.head_seq, self.last_message = message["seq"], message
        if self.messages is not None:
            self._add_to_history(self.messages, message)

    def _add_to_history(self, messages: dict[int, MessageJson], message: MessageJson) -> None:
        """What is older than the loaded part stays out. A history read before its space may lack the newest."""
        seq = message["seq"]
        if seq > next(reversed(messages), 0) or _continues(message, messages.get(seq)):
            messages[seq] = message
        elif seq not in messages and seq > next(iter(messages), 0):
            self.messages = dict(sorted({**messages, seq: message}.items()))

    def see(self, seq: int, message_id: str) -> None:
        if seq > self.seen_seq:
            self.seen_seq, self.last_seen_message_id = seq, message_id

    def set_member(self, member: MemberJson) -> None:
        everyone = {**self.members, member["id"]: member}
        self.members = dict(sorted(everyone.items(), key=lambda item: (item[1]["joinedAt"], item[0])))
        if self.messages is not None:
            self.messages = {seq: self.named(message) for seq, message in self.messages.items()}
        if self.last_message is not None:
            self.last_message = self.named(self.last_message)

    def named(self, message: MessageJson) -> MessageJson:
        """With the sender's present name, as the server would tell it now."""
        sender = self.members.get(message["sender"]["id"])
        if sender is None or sender["name"] == message["sender"]["name"]:
            return message
        return {**message, "sender": {**message["sender"], "name": sender["name"]}}


@dataclass(slots=True)
class ClientState:
    """`me` is the id of the entity whose client this is. Two states are equal when they know the same."""

    me: str
    spaces: dict[str, SpaceState] = field(default_factory=dict)
    # Spaces joined meanwhile, and spaces where something was missed: fetch them and hand them to `load_space`.
    to_fetch: set[str] = field(default_factory=set)

    def load(self, spaces: Sequence[SpaceJson], histories: Mapping[str, Sequence[MessageJson]] | None = None) -> None:
        """Everything anew: all of one's spaces, and the messages of those that are shown, by space id."""
        self.spaces.clear()
        self.to_fetch.clear()
        for space in spaces:
            self.load_space(space, (histories or {}).get(space["id"]))

    def load_space(self, space: SpaceJson, history: Sequence[MessageJson] | None = None) -> None:
        state = self.spaces[space["id"]] = _loaded(space, history)
        self.to_fetch.discard(space["id"])
        # A history read after its space may hold more than the space knew of.
        for message in history or ():
            self._hear(state, message)

    def apply(self, event: Event) -> None:
        """Types that say nothing about this state are passed over."""
        space_id = event.data.get("spaceId", "")
        space = self.spaces.get(space_id)
        if event.type in ("space.member.joined", "space.member.left") and event.data["entityId"] == self.me:
            self._move(space_id, space, event)
        elif space is not None:
            self._apply_to(space, event.type, event.data)

    def _move(self, space_id: str, space: SpaceState | None, event: Event) -> None:
        """One's own joining says only that there is a space to fetch; one's own leaving drops it."""
        if space is not None and event.data["eventSeq"] <= space.event_seq:
            return
        if event.type == "space.member.left":
            self.spaces.pop(space_id, None)
            self.to_fetch.discard(space_id)
        else:
            self.spaces.pop(space_id, None)
            self.to_fetch.add(space_id)

    def _apply_to(self, space: SpaceState, type: str, data: dict[str, Any]) -> None:
        number = data.get("eventSeq", space.event_seq)
        # Messages have numbers of their own, and a history may have been read before its space was.
        if number < space.event_seq + 1 and type not in ("space.message", "space.read"):
            return
        space.event_seq = max(space.event_seq, number)
        match type:
            case "space.message":
                self._hear(space, space.named(data["message"]))
            case "space.read":
                if data["entityId"] == self.me:
                    space.see(data["lastSeenSeq"], data["lastSeenMessageId"])
            case "space.member.joined":
                space.set_member(data["member"])
            case "space.member.updated":
                space.set_member(data["member"])
            case "space.member.left":
                space.members.pop(data["entityId"], None)
            case "space.updated":
                space.facts = data["space"]

    def _hear(self, space: SpaceState, message: MessageJson) -> None:
        if message["seq"] > space.head_seq + 1:
            self.to_fetch.add(message["spaceId"])
        if message["seq"] > space.head_seq and message["sender"]["id"] == self.me:
            space.see(message["seq"], message["id"])
        space.add(message)


def _loaded(space: SpaceJson, history: Sequence[MessageJson] | None) -> SpaceState:
    last = space["lastMessage"]
    known = None if history is None else {message["seq"]: message for message in history}
    return SpaceState(
        facts=_facts(space),
        members={member["id"]: member for member in space["members"]},
        head_seq=last["seq"] if last else 0,
        seen_seq=space["lastSeenSeq"],
        last_seen_message_id=space["lastSeenMessageId"],
        last_message=last,
        event_seq=space["eventSeq"],
        messages=known and dict(sorted(known.items())),
    )


def _facts(space: SpaceJson) -> SpaceFactsJson:
    return {
        "id": space["id"],
        "name": space["name"],
        "description": space["description"],
        "triggers": space["triggers"],
        "orchestratorId": space["orchestratorId"],
        "phase": space["phase"],
        "toolPolicy": space["toolPolicy"],
        "createdAt": space["createdAt"],
    }


def _continues(message: MessageJson, known: MessageJson | None) -> bool:
    """A tool message gets its result later, under its old number; everything else stays as it was said."""
    if known is None or message["id"] != known["id"] or "tool" not in known:
        return False
    return known["tool"]["status"] == "running"

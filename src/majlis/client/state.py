"""A client's view of its spaces, which the client loads once and then updates with events.

Load after the stream has sent `connected`, then apply all events. An event that the loaded state already contains
changes nothing: the events of a space are numbered (`eventSeq`), a loaded space has the number of its newest event,
and read positions only grow.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from majlis.client.follow import Event

if TYPE_CHECKING:
    from majlis.client.shapes import MemberJson, MessageJson, SpaceFactsJson, SpaceJson

_FACTS = (
    "id", "name", "description", "triggers", "orchestratorId", "phase", "direct", "gatherMillis", "maxChainDepth",
    "paused", "toolPolicy", "summaries", "createdAt",
)  # fmt: skip


@dataclass(slots=True)
class SpaceState:
    facts: SpaceFactsJson
    # In join order.
    members: dict[str, MemberJson]
    head_seq: int
    seen_seq: int
    last_seen_message_id: str | None
    last_message: MessageJson | None
    # The newest event that this state contains.
    event_seq: int
    # By number; None if the history is not loaded.
    messages: dict[int, MessageJson] | None

    @property
    def unread(self) -> int:
        # The event with a read position may arrive before its message.
        return max(0, self.head_seq - self.seen_seq)

    def add(self, message: MessageJson) -> None:
        if message["seq"] > self.head_seq or _continues(message, self.last_message):
            self.head_seq, self.last_message = message["seq"], message
        if self.messages is not None:
            self._add_to_history(self.messages, message)

    def _add_to_history(self, messages: dict[int, MessageJson], message: MessageJson) -> None:
        """Ignores messages that are older than the loaded part. Newer ones may fill gaps: a history that was loaded
        before its space may lack the newest."""
        seq = message["seq"]
        if seq > next(reversed(messages), 0) or _continues(message, messages.get(seq)):
            messages[seq] = message
        elif seq not in messages and seq > next(iter(messages), 0):
            self.messages = dict(sorted({**messages, seq: message}.items()))

    def react(self, data: dict[str, Any]) -> None:
        known = (self.messages or {}).get(data["seq"]) or self.last_message
        if known is not None and known["id"] == data["messageId"]:
            changed = {"reactions": data["reactions"], "revision": data["revision"]}
            self.add(cast("MessageJson", {**known, **changed}))

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
        """The message with the sender's current name."""
        sender = self.members.get(message["sender"]["id"])
        if sender is None or sender["name"] == message["sender"]["name"]:
            return message
        return {**message, "sender": {**message["sender"], "name": sender["name"]}}


@dataclass(slots=True)
class ClientState:
    """`me` is the id of the client's own entity."""

    me: str
    spaces: dict[str, SpaceState] = field(default_factory=dict)
    # Newly joined spaces and spaces with missed messages: fetch them and pass them to `load_space`.
    to_fetch: set[str] = field(default_factory=set)

    def load(self, spaces: Sequence[SpaceJson], histories: Mapping[str, Sequence[MessageJson]] | None = None) -> None:
        """Replaces everything: all spaces of the client, and by space id the messages of those that are shown."""
        self.spaces.clear()
        self.to_fetch.clear()
        for space in spaces:
            self.load_space(space, (histories or {}).get(space["id"]))

    def load_space(self, space: SpaceJson, history: Sequence[MessageJson] | None = None) -> None:
        state = self.spaces[space["id"]] = _loaded(space, history)
        self.to_fetch.discard(space["id"])
        # A history that was loaded after its space may hold newer messages.
        for message in history or ():
            self._hear(state, message)

    def apply(self, event: Event) -> None:
        space_id = event.data.get("spaceId", "")
        space = self.spaces.get(space_id)
        if event.type in ("space.member.joined", "space.member.left") and event.data["entityId"] == self.me:
            self._move(space_id, space, event)
        elif space is not None:
            self._apply_to(space, event.type, event.data)

    def _move(self, space_id: str, space: SpaceState | None, event: Event) -> None:
        """The client's own entity joined or left the space."""
        if space is not None and event.data["eventSeq"] <= space.event_seq:
            return
        self.spaces.pop(space_id, None)
        if event.type == "space.member.left":
            self.to_fetch.discard(space_id)
        else:
            self.to_fetch.add(space_id)

    def _apply_to(self, space: SpaceState, type: str, data: dict[str, Any]) -> None:
        number = data.get("eventSeq", space.event_seq)
        # Messages have their own numbers, and the history may have been loaded before the space.
        if number <= space.event_seq and type not in ("space.message", "message.reactions", "space.read"):
            return
        space.event_seq = max(space.event_seq, number)
        match type:
            case "space.message":
                self._hear(space, space.named(data["message"]))
            case "message.reactions":
                space.react(data)
            case "space.read":
                if data["entityId"] == self.me:
                    space.see(data["lastSeenSeq"], data["lastSeenMessageId"])
            case "space.member.joined" | "space.member.updated":
                space.set_member(data["member"])
                space.facts = self._named(space.facts, space.members)
            case "space.member.left":
                space.members.pop(data["entityId"], None)
            case "space.updated":
                space.facts = self._named(data["space"], space.members)

    def _named(self, facts: SpaceFactsJson, members: Mapping[str, MemberJson]) -> SpaceFactsJson:
        """A direct conversation has the name of the other member."""
        others = [member["name"] for member in members.values() if member["id"] != self.me]
        return {**facts, "name": others[0]} if facts.get("direct") and others else facts

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
        facts=cast("SpaceFactsJson", {key: value for key, value in space.items() if key in _FACTS}),
        members={member["id"]: member for member in space["members"]},
        head_seq=last["seq"] if last else 0,
        seen_seq=space["lastSeenSeq"],
        last_seen_message_id=space["lastSeenMessageId"],
        last_message=last,
        event_seq=space["eventSeq"],
        messages=known and dict(sorted(known.items())),
    )


def _continues(message: MessageJson, known: MessageJson | None) -> bool:
    """A changed message is sent again under the same number: the higher revision wins."""
    if known is None or message["id"] != known["id"]:
        return False
    newer = message.get("revision", 0) - known.get("revision", 0)
    # An earlier server has no revisions; there only the message of a running tool changes.
    return newer > 0 or (newer == 0 and "tool" in known and known["tool"]["status"] == "running")

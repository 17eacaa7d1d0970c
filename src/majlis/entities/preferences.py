"""The choices of people in the web app, kept on the server so that all their browsers show the same."""

from __future__ import annotations

from typing import Annotated, Any, Literal, cast

import sqlalchemy as sa
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, ValidationError
from pydantic.alias_generators import to_camel
from typing_extensions import TypedDict

from majlis.clock import is_timezone
from majlis.entities.caller import Caller
from majlis.entities.entities import access_entity
from majlis.errors import Forbidden
from majlis.live.log import record_for_entity
from majlis.store.tables import preferences
from majlis.store.transactions import Tx

MAX_SPACES = 500


def _known_timezone(name: str) -> str:
    if not is_timezone(name):
        raise ValueError('should be an IANA time zone, for example "UTC" or "Asia/Baghdad"')
    return name


SpaceId = Annotated[str, StringConstraints(pattern=r"^spc_[0-9a-z]{16}$")]
Spaces = Annotated[list[SpaceId], Field(max_length=MAX_SPACES)]
TimeOfDay = Annotated[str, StringConstraints(pattern=r"^(?:[01][0-9]|2[0-3]):[0-5][0-9]$")]
Theme = Literal["system", "light", "dark"]
Language = Literal["en", "ar"]
Order = Literal["newest", "name"]
Level = Literal["all", "mentions", "decisions", "none"]


class _Wire(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, alias_generator=to_camel, validate_by_name=False)


class QuietHours(_Wire):
    from_: TimeOfDay = Field(alias="from")
    to: TimeOfDay


class Preferences(_Wire):
    theme: Theme = "system"
    language: Language | None = Field(default=None, description="null: as in the browser.")
    time_zone: Annotated[str, AfterValidator(_known_timezone)] | None = Field(
        default=None, description="An IANA name. null: as in the browser."
    )
    order: Order = Field(default="newest", description="The order of spaces.")
    pinned: Spaces = Field(default_factory=list)
    muted: Spaces = Field(default_factory=list)
    archived: Spaces = Field(default_factory=list)
    notify: Annotated[dict[SpaceId, Level], Field(max_length=MAX_SPACES)] = Field(
        default_factory=dict, description="The notifications of a space. Default: `mentions`, which includes decisions."
    )
    sound: bool = Field(default=False, description="Notifications play a sound.")
    quiet: QuietHours | None = Field(default=None, description="Hours without notifications. They may span midnight.")


QuietHoursJson = TypedDict("QuietHoursJson", {"from": str, "to": str})


class PreferencesJson(TypedDict):
    # Grows with each change; 0 if nothing was ever changed.
    revision: int
    theme: Theme
    language: Language | None
    timeZone: str | None
    order: Order
    pinned: list[str]
    muted: list[str]
    archived: list[str]
    notify: dict[str, Level]
    sound: bool
    quiet: QuietHoursJson | None


def read_preferences(tx: Tx, caller: Caller) -> PreferencesJson:
    _require_person(caller)
    return _wire(_stored(tx, caller.id))


def change_preferences(tx: Tx, caller: Caller, changes: Preferences) -> PreferencesJson:
    """Replaces the fields that were set. The person's open apps get an event."""
    _require_person(caller)
    access_entity(tx, caller.id, lock=True)
    row = _stored(tx, caller.id)
    before = row.value if row is not None else {}
    value = {**before, **changes.model_dump(by_alias=True, exclude_unset=True)}
    if value == before:
        return _wire(row)
    if row is None:
        tx.execute(preferences.insert().values(entity_id=caller.id, revision=1, value=value))
    else:
        which = preferences.c.entity_id == caller.id
        tx.execute(preferences.update().where(which).values(revision=row.revision + 1, value=value))
    saved = _wire(_stored(tx, caller.id))
    record_for_entity(tx, caller.id, "preferences.changed", {"preferences": saved})
    return saved


def forget_preferences(tx: Tx, entity_id: str) -> None:
    tx.execute(preferences.delete().where(preferences.c.entity_id == entity_id))


def preferences_of(value: object) -> Preferences:
    """Fields that are not valid, for example in an import from another version, have their defaults."""
    known = {name: each for name, each in (value if isinstance(value, dict) else {}).items() if name in _NAMES}
    try:
        return Preferences.model_validate(known)
    except ValidationError as error:
        wrong = {each["loc"][0] for each in error.errors()}
        return Preferences.model_validate({name: each for name, each in known.items() if name not in wrong})


def _stored(tx: Tx, entity_id: str) -> sa.Row[Any] | None:
    return tx.one(sa.select(preferences).where(preferences.c.entity_id == entity_id))


def _wire(row: sa.Row[Any] | None) -> PreferencesJson:
    chosen = preferences_of(row.value if row is not None else {})
    revision = row.revision if row is not None else 0
    return cast(PreferencesJson, {"revision": revision, **chosen.model_dump(by_alias=True)})


def _require_person(caller: Caller) -> None:
    if caller.type != "human":
        raise Forbidden("not_allowed", "Only people have preferences.")


_NAMES = {field.alias or to_camel(name) for name, field in Preferences.model_fields.items()}

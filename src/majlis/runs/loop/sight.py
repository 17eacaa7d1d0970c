"""The pictures that a run's model is shown (L5): the newest of what its mind shows, and those of tool results.

Turns hold references, so stored views stay small; a request gets the content. Pictures follow the text of a turn, so
that the prompts of later runs have the same beginning.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from majlis.errors import MajlisError
from majlis.files.reader import MODEL_SIDE
from majlis.files.sniff import PICTURES
from majlis.minds.view import MAX_PICTURES
from majlis.models.port import ModelFailed, Picture, Turn, User
from majlis.models.provider_errors import WITHOUT_PICTURES
from majlis.runs.engine import Engine
from majlis.runs.run import Run
from majlis.spaces.file_rights import find_readable

MAX_BYTES = 6 * 1024 * 1024
_RESULTS = "The pictures of these results:"
# Providers count up to 1,600 tokens for a picture of this size; the labels are part of it.
_MAX_TOKENS, _PIXELS_PER_TOKEN, _AROUND = 1_600, 750, 30
_REFUSALS = (WITHOUT_PICTURES, "model_refused_request", "model_misconfigured")


class Sight:
    def __init__(self, engine: Engine, run: Run) -> None:
        self._engine = engine
        self._run = run
        # JPEG data by file id, of all pictures in the turns.
        self.content: dict[str, bytes] = {}
        self._refused = False

    @property
    def sees(self) -> bool:
        return not self._refused and self._engine.sees(self._run.config)

    async def load(self, files: Sequence[Mapping[str, Any]], room: int | None) -> tuple[Picture, ...]:
        """Loads the files that the run may read and that fit: into a quarter of `room` tokens, and into the request."""
        if not files or not self.sees:
            return ()
        run, left = self._run, room // 4 if room is not None else MAX_PICTURES * _MAX_TOKENS
        rows = await self._engine.db.read(find_readable, run.caller, [file["id"] for file in files], run.bounds)
        found: list[Picture] = []
        for row in rows:
            picture = Picture(row.id, tokens_of(row.width, row.height))
            if picture.tokens <= left and len(self.content) < 2 * MAX_PICTURES and await self._content(row):
                left -= picture.tokens
                found.append(picture)
        return tuple(found)

    async def after_results(self, outputs: Sequence[Any], room: int | None) -> list[Turn]:
        """A turn with the pictures of tool results."""
        listed = [file for output in outputs for file in _files_in(output)][:MAX_PICTURES]
        pictures = await self.load(listed, room)
        return [User((_RESULTS,), pictures)] if pictures else []

    def refuse(self, error: ModelFailed, turns: list[Turn]) -> bool:
        """The provider refused a request with pictures: the next one has none. False if that cannot be the reason."""
        if not self.content or error.code not in _REFUSALS:
            return False
        self._refused = True
        self.content = {}
        turns[:] = [replace(turn, pictures=()) if isinstance(turn, User) else turn for turn in turns]
        return True

    def answered(self) -> None:
        """The model has answered a request. If it refused one with pictures before, they were the reason."""
        if self._refused:
            self._engine.remember_blind(self._run.config.model)

    async def _content(self, row: Any) -> bool:
        """False if the picture cannot be read or is too large."""
        if row.id not in self.content:
            try:
                made = await self._engine.files.picture(row, MODEL_SIDE, "JPEG")
            except MajlisError as error:
                self._run.note(f"The model was not shown a picture: {error.message}")
                return False
            if sum(map(len, self.content.values())) + len(made) > MAX_BYTES:
                return False
            self.content[row.id] = made
        return True


def with_pictures(turns: Sequence[Turn], pictures: tuple[Picture, ...]) -> tuple[Turn, ...]:
    """Adds pictures to the last turn of a user."""
    at = max(n for n, turn in enumerate(turns) if isinstance(turn, User))
    last = turns[at]
    assert isinstance(last, User)
    return (*turns[:at], replace(last, pictures=pictures), *turns[at + 1 :])


def tokens_of(width: int | None, height: int | None) -> int:
    pixels = (width or MODEL_SIDE) * (height or MODEL_SIDE)
    return min(_MAX_TOKENS, pixels // _PIXELS_PER_TOKEN + _AROUND)


def _files_in(output: Any) -> list[Mapping[str, Any]]:
    files = output.get("files") if isinstance(output, Mapping) else None
    if not isinstance(files, list):
        return []
    return [
        each
        for each in files
        if isinstance(each, Mapping) and isinstance(each.get("id"), str) and each.get("mediaType") in PICTURES
    ]

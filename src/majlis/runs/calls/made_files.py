"""Files in the results of tools: they become files of the active space (L5), which no message carries yet.

The agent can send them, in runs for the same person (G3). Unused, they are deleted after a day.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from majlis.errors import MajlisError
from majlis.minds.timeline.lines import file_mark
from majlis.runs.engine import Engine
from majlis.runs.run import Run
from majlis.spaces.attachments import check_upload, record_file, reserve_blob
from majlis.spaces.shapes import FileJson

MAX_MADE = 8


@dataclass(frozen=True, slots=True)
class MadeFile:
    name: str
    content: bytes


class WithFiles(dict[str, Any]):
    """A tool's result and the files that come with it. The keys in `instead` describe the files for a run that cannot
    store them."""

    made: Sequence[MadeFile] = ()
    # Keys of the result that describe files. They are dropped when the files are stored.
    instead: Sequence[str] = ()


async def keep_files(engine: Engine, run: Run, result: WithFiles, n: int) -> tuple[dict[str, Any], list[FileJson]]:
    """The result with the stored files. A file that cannot be stored becomes a note. `n` is the step of the call, so a
    repeated call stores nothing twice."""
    if not result.made:
        return dict(result), []
    notes = [f"Only the first {MAX_MADE} files were kept."] if len(result.made) > MAX_MADE else []
    kept: list[FileJson] = []
    for index, each in enumerate(result.made[:MAX_MADE]):
        try:
            kept.append(await _keep(engine, run, each, f"{run.id}:{n}:{index}"))
        except MajlisError as error:
            notes.append(f"{each.name} was not kept: {error.message}")
    plain = {name: value for name, value in result.items() if not kept or name not in result.instead}
    if kept:
        plain["files"] = [{**file, "shown": file_mark(file)} for file in kept]
    if notes:
        plain["fileNotes"] = notes
    return plain, kept


async def _keep(engine: Engine, run: Run, file: MadeFile, upload_key: str) -> FileJson:
    space_id = run.active_space_id
    if space_id is None:
        raise MajlisError("no_active_space", "no space is active. Call enter_space first.")
    await engine.db.read(check_upload, run.caller, space_id)
    with engine.uploads.begin(run.agent_id) as spool:
        await spool.add(file.content)
        upload = await spool.finish(file.name)
        blob, stored = await engine.db.write(reserve_blob, upload.sha256, upload.bytes)
        if not stored:
            await engine.uploads.store.put(blob, upload.path)
        return await engine.db.write(record_file, run.caller, space_id, upload, blob, upload_key, run.person_id)

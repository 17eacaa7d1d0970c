"""Fields of forms that are files (L6): `"format": "file-id"` in the schema of a string."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from majlis.spaces.attachments import MAX_FILES

FORMAT = "file-id"


def file_ids(schema: Any, value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Paths and ids of the files in an answer that is valid by its schema."""
    if not isinstance(schema, Mapping):
        return
    if schema.get("format") == FORMAT and isinstance(value, str):
        yield path, value
    if isinstance(value, Mapping):
        for name, each in schema.get("properties", {}).items():
            if name in value:
                yield from file_ids(each, value[name], f"{path}.{name}" if path else name)
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for at, each in enumerate(value[: MAX_FILES + 1]):
            yield from file_ids(schema.get("items"), each, f"{path}.{at}")

"""The file store in a bucket of an S3-compatible service, for several nodes."""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

from majlis.errors import ConfigurationError, Unavailable
from majlis.files.store import CHUNK, FileStore

SCHEME = "s3://"
_REGION = "us-east-1"


class Bucket(FileStore):
    """`place` is `s3://bucket/prefix`. Keys, region and endpoint come from the usual AWS_… variables. `root` is a local
    folder for uploads on their way."""

    def __init__(self, place: str, root: Path) -> None:
        super().__init__(root)
        try:
            from obstore.store import S3Store
        except ImportError:
            problem = f"file_store is {place}, which needs a package. Run pip install 'majlis[s3]', then start again."
            raise ConfigurationError(problem) from None
        name, _, prefix = place.removeprefix(SCHEME).partition("/")
        endpoint = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")
        region = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION") or _REGION
        config: Any = {"region": region} | ({"endpoint": endpoint} if endpoint else {})
        plain = bool(endpoint) and str(endpoint).startswith("http://")
        self._store = S3Store(
            name, prefix=prefix.strip("/") or None, config=config, client_options={"allow_http": plain}
        )

    async def put(self, name: str, path: Path) -> None:
        import obstore

        with _explained(writes=True):
            # In parts if it is large.
            await obstore.put_async(self._store, name, path)
        await asyncio.to_thread(path.unlink)

    def put_now(self, name: str, path: Path) -> None:
        import obstore

        with _explained(writes=True):
            obstore.put(self._store, name, path)
        path.unlink()

    async def put_bytes(self, name: str, content: bytes) -> None:
        import obstore

        with _explained(writes=True):
            await obstore.put_async(self._store, name, content)

    async def read(self, name: str, start: int, end: int) -> AsyncIterator[bytes]:
        import obstore

        if start >= end:
            return
        with _explained():
            found = await obstore.get_async(self._store, name, options={"range": (start, end)})
            async for piece in found.stream(min_chunk_size=CHUNK):
                yield bytes(piece)

    async def read_all(self, name: str) -> bytes:
        import obstore

        with _explained():
            return bytes(await (await obstore.get_async(self._store, name)).bytes_async())

    def open_now(self, name: str) -> BinaryIO:
        import obstore

        with _explained():
            pieces = obstore.get(self._store, name).stream(min_chunk_size=CHUNK)
            copy = tempfile.TemporaryFile()  # noqa: SIM115
            for piece in pieces:
                copy.write(piece)
        copy.seek(0)
        return copy

    def has_now(self, name: str) -> bool:
        import obstore

        try:
            with _explained():
                obstore.head(self._store, name)
        except FileNotFoundError:
            return False
        return True

    async def delete(self, name: str) -> None:
        import obstore

        with suppress(FileNotFoundError), _explained():
            await obstore.delete_async(self._store, name)


def store_at(place: str, root: Path) -> FileStore:
    return Bucket(place, root) if place.startswith(SCHEME) else FileStore(root)


@contextmanager
def _explained(writes: bool = False) -> Iterator[None]:
    """A bucket that is missing or cannot be reached is not the fault of the request. Reading a missing name raises
    FileNotFoundError."""
    from obstore.exceptions import BaseError, NotFoundError

    try:
        yield
    except (BaseError, OSError) as error:
        if isinstance(error, FileNotFoundError | NotFoundError) and not writes:
            raise FileNotFoundError from None
        problem = "The server cannot reach its file store at the moment. Try again later, or tell the server's owner."
        raise Unavailable("file_store_failed", problem) from error

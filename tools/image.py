"""The files that the container image is built from, as one archive for `docker build - < FILE`."""

import gzip
import io
import os
import tarfile
from pathlib import Path

from tools.steps import ROOT


def write(target: Path, epoch: int) -> None:
    with target.open("wb") as file, gzip.GzipFile("", "wb", 9, file, epoch) as packed:
        packed.write(context(epoch))


def context(epoch: int) -> bytes:
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name in files():
            data = (ROOT / name).read_bytes()
            entry = tarfile.TarInfo(name)
            entry.size, entry.mtime = len(data), epoch
            entry.mode = 0o755 if (ROOT / name).stat().st_mode & 0o100 else 0o644
            archive.addfile(entry, io.BytesIO(data))
    return content.getvalue()


def files() -> list[str]:
    """Those that .dockerignore lets through, as Docker would read them, and the two that tell how to build."""
    lines = (ROOT / ".dockerignore").read_text("utf-8").split()
    kept = [line.removeprefix("!") for line in lines if line.startswith("!")]
    left_out = {line for line in lines if "/" in line and not line.startswith("!")}
    found = ["Dockerfile", ".dockerignore", *(name for name in kept if (ROOT / name).is_file())]
    for place in kept:
        for folder, inner, names in os.walk(ROOT / place):
            here = Path(folder).relative_to(ROOT)
            inner[:] = [each for each in inner if not {f"**/{each}", str(here / each)} & left_out]
            found += [str(here / name) for name in names]
    return sorted(found)

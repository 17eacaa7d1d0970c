"""The tools of the deploy bot: put a version onto a stage. Here a stage is a folder, and the version a file in it.

Replace `_deploy` with your own way to deploy.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import Field

import majlis

FOLDER = Path(__file__).parent / "deployments"
Version = Annotated[str, Field(pattern=r"^[0-9]+(\.[0-9]+)*$", description="Such as 1.4")]


@majlis.tool
def deploy_test(version: Version, *, ctx: majlis.ToolContext) -> dict[str, str]:
    """Puts a version onto the test stage."""
    return _deploy("test", version, ctx)


@majlis.tool
def deploy_live(version: Version, *, ctx: majlis.ToolContext) -> dict[str, str]:
    """Puts a version onto the live stage, for all users."""
    return _deploy("live", version, ctx)


def _deploy(stage: str, version: str, ctx: majlis.ToolContext) -> dict[str, str]:
    ctx.progress(f"Deploying {version} to {stage}")
    folder = FOLDER / stage
    folder.mkdir(parents=True, exist_ok=True)
    # A repeated call has the same key, so the log lists a deployment once.
    with (folder / "log").open("a") as log:
        log.write(f"{ctx.idempotency_key} {version}\n")
    (folder / "VERSION").write_text(version)
    return {"stage": stage, "version": version}

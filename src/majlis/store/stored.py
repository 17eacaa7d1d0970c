"""Records that are kept as JSON in a column: camelCase keys, as on the wire; fields that are None are left out."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel


class Stored(BaseModel):
    # Unknown keys are ignored, so that a newer version's rows can be read.
    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, frozen=True, extra="ignore")

    def to_json(self) -> dict[str, Any]:
        return self.model_dump(by_alias=True, exclude_none=True)

"""Messages that a text points to, by `msg:<id>` or by a permalink (X12)."""

from __future__ import annotations

import re

# One message shows this many quotes at most, so that no text can pull a whole history into a line.
MAX_REFERENCES = 3
_REFERENCE = re.compile(r"(?:(?<!\w)msg:|/messages/)(msg_[0-9a-z]{16})(?!\w)")


def references(text: str) -> list[str]:
    """Ids in the order in which they stand, each once."""
    if "msg_" not in text:
        return []
    return list(dict.fromkeys(_REFERENCE.findall(text)))[:MAX_REFERENCES]

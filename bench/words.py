"""Texts of about ten words from a vocabulary of a few thousand, the same in every run."""

from __future__ import annotations

import random
from collections.abc import Iterator

_SYLLABLES = (
    "ka",
    "lo",
    "mi",
    "ter",
    "san",
    "du",
    "vel",
    "or",
    "ing",
    "ne",
    "ra",
    "po",
    "shi",
    "en",
    "tu",
    "bel",
    "fo",
    "ris",
)


def sentences(seed: int = 1) -> Iterator[str]:
    choose = random.Random(seed)
    vocabulary = ["".join(choose.choices(_SYLLABLES, k=choose.randint(1, 4))) for _ in range(4000)]
    while True:
        yield " ".join(choose.choices(vocabulary, k=choose.randint(6, 14)))

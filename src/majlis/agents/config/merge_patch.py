"""JSON Merge Patch (RFC 7396): objects are merged, null removes, everything else replaces."""

from __future__ import annotations


def merge_patch(target: object, patch: object) -> object:
    if not isinstance(patch, dict):
        return patch
    merged = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = merge_patch(merged.get(key), value)
    return merged

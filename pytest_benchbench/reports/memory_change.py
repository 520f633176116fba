"""Peak memory of the processes of two runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def peak_memory(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any] | None:
    """Compare what two runs say of the peak memory of their processes.

    Args:
        old: ``run.json`` of the first run.
        new: Of the second.

    Returns:
        For ``old`` and ``new`` the number of ``processes`` and the smallest and the largest peak, in MiB, and the ``ratio``
        of the largest ones. ``None`` where a run does not say it, such as a merged one. Processes of one run scatter from
        ``min_mib`` to ``max_mib``; how much runs scatter one run cannot say.
    """
    was, now = _peaks(old), _peaks(new)
    if was is None or now is None:
        return None
    return {"old": was, "new": now, "ratio": now["max_mib"] / was["max_mib"]}


def _peaks(document: Mapping[str, Any]) -> dict[str, Any] | None:
    peaks = document.get("peak_bytes")
    if not isinstance(peaks, list) or not peaks or not all(type(peak) is int and peak > 0 for peak in peaks):
        return None
    return {"processes": len(peaks), "min_mib": min(peaks) / 2**20, "max_mib": max(peaks) / 2**20}

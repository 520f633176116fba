"""Numbers on the command line: click's own ranges take NaN whatever their bounds, and infinity where they have none."""

from __future__ import annotations

import math
from typing import Any

import click


class FiniteRange(click.FloatRange):
    """A number of a range, as ``click.FloatRange``, but never NaN or infinite."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Read the number.

        Raises:
            click.BadParameter: It is none, is not finite, or lies outside the range.
        """
        number = float(click.FLOAT.convert(value, param, ctx))
        if not math.isfinite(number):
            self.fail(f"{value} is not a finite number.", param, ctx)
        return float(super().convert(number, param, ctx))

"""Settings as text, under the names of the command's flags."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np


def words(settings: Mapping[str, Any]) -> dict[str, list[str]]:
    """Settings as the lines of settings.toml have them; those that are None are not said.

    >>> words({"target_ess": 500, "float32": True, "exclude": ["id"], "positive": None})
    {'target-ess': ['500'], 'float32': ['true'], 'exclude': ['id']}
    """

    def one(value: Any) -> str:
        return str(value).lower() if isinstance(value, bool | np.bool_) else str(value)

    return {
        name.replace("_", "-"): [one(value)]
        if isinstance(value, str) or not isinstance(value, Sequence)
        else [one(item) for item in value]
        for name, value in settings.items()
        if value is not None
    }

"""Settings as text, under the names of the command's flags."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np


def words(settings: Mapping[str, Any]) -> dict[str, list[str]]:
    """Returns settings with the names and texts of settings.toml; those that are None are left out.

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

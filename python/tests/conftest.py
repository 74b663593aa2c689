"""A table with numbers, truth values and texts, in every form that a fit takes."""

import os
import pathlib

os.environ["SCIPY_ARRAY_API"] = "1"  # set before SciPy is imported, or scikit-learn skips one of its checks

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest

LOANS = pathlib.Path(__file__).parents[2] / "examples" / "data" / "loans.csv"


@pytest.fixture(scope="session")
def frame() -> pd.DataFrame:
    rng = np.random.default_rng(3)
    n = 3000
    x, w = rng.normal(size=n), rng.normal(10.0, 3.0, size=n)
    region = rng.choice(["east", "north", "west"], n)
    member = rng.random(n) < 0.4
    eta = 0.8 * x - 0.1 * (w - 10) + 0.5 * (region == "north") - 0.7 * member
    return pd.DataFrame(
        {
            "x": x,
            "w": w,
            "region": region,
            "member": member,
            "clicked": (rng.random(n) < 1 / (1 + np.exp(-eta))).astype(int),
        }
    )


@pytest.fixture(scope="session")
def parquet(frame, tmp_path_factory) -> pathlib.Path:
    path = tmp_path_factory.mktemp("table") / "clicks.parquet"
    pyarrow.parquet.write_table(pa.Table.from_pandas(frame, preserve_index=False), path)
    return path


@pytest.fixture(scope="session")
def quick() -> dict:
    """Settings of a short run."""
    return {"chains": 2, "warmup": 200, "draws": 150, "seed": 7, "progress": False}

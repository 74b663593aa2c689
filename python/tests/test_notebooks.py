"""The notebooks run from their first cell to their last, at a small size."""

import pathlib

import nbclient
import nbformat
import pytest

NOTEBOOKS = sorted((pathlib.Path(__file__).parents[2] / "docs" / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook(path, monkeypatch):
    monkeypatch.setenv("FLYMC_NOTEBOOK_ROWS", "10000")
    notebook = nbformat.read(path, as_version=4)
    kept = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert sum("image/png" in output.get("data", {}) for output in kept) >= 2, "the notebook is kept with its pictures"
    assert not any(output.output_type in ("error", "stream") and output.get("name") != "stdout" for output in kept)
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3").execute()


def test_there_are_two():
    assert [path.stem for path in NOTEBOOKS] == ["million", "rare"]

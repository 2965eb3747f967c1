"""What a study found is stored, and read again by the next run, unless the file was changed."""

import logging
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from wakeful.paper.settings import Settings


def test_a_study_is_done_once_for_each_question_and_again_if_its_file_was_changed(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    calls: list[int] = []

    def compute() -> dict[str, Any]:
        calls.append(1)
        return {"ends": np.arange(3.0)}

    settings = Settings(store=tmp_path / "store")
    for about in ({"study": "a"}, {"study": "a"}, {"study": "b"}):
        assert settings.kept(about, compute)["ends"].tolist() == [0.0, 1.0, 2.0]
    assert len(calls) == 2
    assert not caplog.text
    for path in (tmp_path / "store").iterdir():
        path.write_bytes(path.read_bytes()[:-40])
    with caplog.at_level(logging.WARNING, logger="wakeful"):
        assert settings.kept({"study": "a"}, compute)["ends"].tolist() == [0.0, 1.0, 2.0]
    assert len(calls) == 3
    assert "done again, since it cannot be read" in caplog.text
    settings.kept({"study": "a"}, compute)
    assert len(calls) == 3


def test_without_a_store_a_study_is_done_each_time() -> None:
    found = [Settings().kept({}, lambda n=n: {"n": np.array([n])})["n"].item() for n in range(2)]  # type: ignore[misc]
    assert found == [0, 1]

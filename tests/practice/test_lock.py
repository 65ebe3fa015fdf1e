"""A lock that the system lets go of."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from harness.practice.lock import HeldElsewhere, held
from tests.conftest import environment

HOLD = """
import sys
from pathlib import Path
from harness.practice.lock import held
with held(Path(sys.argv[1]), sys.argv[2]):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such locks")
def test_the_other_says_who_it_is_and_a_killed_one_holds_nothing(tmp_path: Path) -> None:
    path = tmp_path / "data" / "add.lock"
    with held(path, "an earlier one, with a longer name"):
        pass
    other = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path), "since µ"], env=environment(), stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert other.stdout is not None and other.stdout.readline() == "held\n"
        with pytest.raises(HeldElsewhere, match=r"^since µ$"), held(path, "me"):
            raise AssertionError("two hold it")
        with held(path.with_name("softmax.lock"), "me"):
            pass
    finally:
        other.kill()
        other.communicate()
    with held(path, "me"):
        assert path.read_text(encoding="utf-8") == "me"


def test_where_no_file_can_be_written_it_goes_on(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("", encoding="utf-8")
    with held(tmp_path / "data" / "add.lock", "me"):
        assert list(tmp_path.iterdir()) == [tmp_path / "data"]

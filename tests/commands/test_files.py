"""``start`` and ``reset``: nothing of the user's is lost without a yes."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.conftest import PATIENCE, SKELETON, Run, command, environment


def test_start_writes_the_skeleton_here(home: Path, desk: Path, kata: Run) -> None:
    done = kata("start", "add")
    assert done.returncode == 0
    assert (desk / "add.cu").read_text(encoding="utf-8") == SKELETON
    assert done.stdout.splitlines()[-1] == "Next: kata check add"


def test_start_writes_into_another_folder(home: Path, desk: Path, kata: Run) -> None:
    (desk / "mine").mkdir()
    assert "kata check add mine/add.cu" in kata("start", "add", "mine").stdout
    assert (desk / "mine/add.cu").is_file()


@pytest.mark.parametrize("verb", ["start", "reset"])
def test_a_file_stays_where_nobody_can_be_asked(home: Path, desk: Path, kata: Run, verb: str) -> None:
    (desk / "add.cu").write_text("// mine\n", encoding="utf-8")
    done = kata(verb, "add")
    assert done.returncode == 2
    assert "--force" in done.stderr
    assert (desk / "add.cu").read_text(encoding="utf-8") == "// mine\n"
    assert len(list(desk.iterdir())) == 1


def test_start_replaces_when_forced(home: Path, desk: Path, kata: Run) -> None:
    (desk / "add.cu").write_text("// mine\n", encoding="utf-8")
    assert kata("start", "add", "--force").returncode == 0
    assert (desk / "add.cu").read_text(encoding="utf-8") == SKELETON


def test_reset_keeps_every_earlier_file(home: Path, desk: Path, kata: Run) -> None:
    for number in (1, 2):
        (desk / "add.cu").write_text(f"// attempt {number}\n", encoding="utf-8")
        assert kata("reset", "add", "--force").returncode == 0
        assert (desk / "add.cu").read_text(encoding="utf-8") == SKELETON
    assert (desk / "add.cu.1.bak").read_text(encoding="utf-8") == "// attempt 1\n"
    assert (desk / "add.cu.2.bak").read_text(encoding="utf-8") == "// attempt 2\n"


def test_reset_of_an_untouched_skeleton_keeps_nothing(home: Path, desk: Path, kata: Run) -> None:
    (desk / "add.cu").write_text(SKELETON, encoding="utf-8")
    done = kata("reset", "add")
    assert done.returncode == 0 and "is the skeleton, untouched" in done.stdout
    assert [path.name for path in desk.iterdir()] == ["add.cu"]


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
@pytest.mark.parametrize(("answer", "replaced"), [("y", True), ("n", False), ("", False)])
def test_at_a_terminal_the_answer_decides(home: Path, desk: Path, answer: str, replaced: bool) -> None:
    import pexpect

    (desk / "add.cu").write_text("// mine\n", encoding="utf-8")
    program, *arguments = command("start", "add")
    child = pexpect.spawn(program, arguments, cwd=str(desk), env=environment(), timeout=PATIENCE)
    child.expect("Replace add.cu with an empty skeleton")
    child.sendline(answer)
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == (0 if replaced else 2)
    assert (desk / "add.cu").read_text(encoding="utf-8") == (SKELETON if replaced else "// mine\n")


def test_a_folder_of_that_name_is_not_written_to(home: Path, desk: Path, kata: Run) -> None:
    (desk / "add.cu").mkdir()
    done = kata("start", "add")
    assert done.returncode == 2
    assert "is a folder" in done.stderr

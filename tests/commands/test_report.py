"""``kata report`` from end to end: the page is written whole, and nothing else is lost to it."""

from __future__ import annotations

from pathlib import Path

import html5lib
import pexpect
import pytest

from tests.commands.test_profile import LEFT_OUT, SCATTERED, sized, write
from tests.conftest import PAST_THE_END, PATIENCE, RIGHT, SYNTAX_ERROR, Run, command, environment

__all__ = ["sized"]


def page(desk: Path, name: str = "add.html") -> str:
    """The page, after a strict reading."""
    text = (desk / name).read_text(encoding="utf-8")
    html5lib.HTMLParser(strict=True).parse(text)
    return text


def test_a_wrong_kernel_gets_its_page_with_everything_escaped(sized: Path, desk: Path, kata: Run) -> None:
    write(desk, SCATTERED.replace("// Rung 1", "// </script> & <b>"))
    done = kata("report", "add", "--html", "add.html")
    assert done.returncode == 1, done.stderr
    text = page(desk)
    assert "✗ add is wrong for" in text and "Lanes by sector" in text and "sectors a request" in text
    assert "&lt;/script&gt; &amp; &lt;b&gt;" in text and "</script>" not in text
    assert done.stdout.startswith("add is wrong for") and "Next: open add.html in a browser" in done.stdout


def test_without_a_name_the_page_is_named_after_the_kata(sized: Path, desk: Path, kata: Run) -> None:
    write(desk, RIGHT)
    done = kata("report", "add")
    assert done.returncode == 0 and done.stdout.splitlines()[-1] == "Next: open add.html in a browser"
    assert "✓ add is right" in page(desk)
    write(desk, "mine", "add.html")
    assert kata("report", "add.cu").returncode == 2 and (desk / "add.html").read_text(encoding="utf-8") == "mine"


def test_a_fault_is_shown_without_figures_and_force_replaces_any_file(sized: Path, desk: Path, kata: Run) -> None:
    write(desk, PAST_THE_END)
    write(desk, "<!doctype html><title>mine</title>", "notes.html")
    assert kata("report", "add", "--html", "notes.html", "--force").returncode == 4
    text = page(desk, "notes.html")
    assert "No figures: the kernel faults." in text and "out of bounds" in text


def test_work_that_is_left_out_is_said_at_the_top_of_the_page(sized: Path, desk: Path, kata: Run) -> None:
    write(desk, LEFT_OUT)
    done = kata("report", "add", "--html", "add.html")
    undone = "at n = 1048576 only the first 65,536 of 1,048,576 elements of c are written"
    assert done.returncode == 1 and undone in " ".join(done.stderr.split())
    assert done.stdout.startswith("add is wrong for n = 1048576 (right for ")
    assert f"{undone}: its figures say little" in page(desk).partition("<main>")[0]


def test_what_does_not_compile_gets_no_page(sized: Path, desk: Path, kata: Run) -> None:
    write(desk, SYNTAX_ERROR)
    done = kata("report", "add", "--html", "add.html")
    assert done.returncode == 3 and "does not compile" in done.stderr and not (desk / "add.html").exists()


def test_an_earlier_report_is_replaced_and_any_other_file_is_not(sized: Path, desk: Path, kata: Run) -> None:
    write(desk, RIGHT)
    assert kata("report", "add", "--html", "add.html").returncode == 0
    assert "✓ add is right" in page(desk) and "Right: 1 of the latest 1" in page(desk)
    assert kata("report", "add", "--html", "add.html").returncode == 0
    assert "Right: 2 of the latest 2" in page(desk)
    write(desk, "<!doctype html><title>mine</title>", "notes.html")
    for arguments in (("notes.html",), ("add.cu", "--force")):
        assert kata("report", "add", "--html", *arguments).returncode == 2
    assert (desk / "add.cu").read_text(encoding="utf-8") == RIGHT
    assert "mine" in (desk / "notes.html").read_text(encoding="utf-8")
    assert sorted(path.name for path in desk.iterdir()) == ["add.cu", "add.html", "notes.html"]  # no partial files


@pytest.mark.parametrize(("answer", "kept"), [("n", True), ("y", False)])
def test_at_a_terminal_it_asks_before_replacing(sized: Path, desk: Path, answer: str, kept: bool) -> None:
    write(desk, RIGHT)
    write(desk, "mine", "notes.html")
    program, *arguments = command("report", "add", "--html", "notes.html")
    child = pexpect.spawn(program, arguments, cwd=str(desk), env=environment(), timeout=PATIENCE, encoding="utf-8")
    child.expect("Replace it")
    child.sendline(answer)
    child.expect(pexpect.EOF)
    child.close()
    assert ((desk / "notes.html").read_text(encoding="utf-8") == "mine") is kept
    assert child.exitstatus == (2 if kept else 0)


@pytest.mark.parametrize(("out", "says"), [
    (".", "is a folder"), ("nowhere/add.html", "there is no folder nowhere"), ("/dev/null", "is not a regular file"),
])  # fmt: skip
def test_a_place_that_cannot_be_written_is_said_before_anything_runs(
    sized: Path, desk: Path, kata: Run, out: str, says: str
) -> None:
    write(desk, RIGHT)
    done = kata("report", "add", "--html", out)
    assert done.returncode == 2 and says in done.stderr

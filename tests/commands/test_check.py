"""``kata check`` from end to end: NVIDIA's compiler, the simulator, the grader, the page."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from harness.commands import check
from harness.results import CaseResult, Outcome
from tests.conftest import PAST_THE_END, RIGHT, SYNTAX_ERROR, TAIL, Run

PRINTS = RIGHT.replace("int i = ", 'if (threadIdx.x == 0) printf("\\x1b[31m[bold]here\\n");\n    int i = ')


def write(desk: Path, source: str, name: str = "add.cu") -> None:
    (desk / name).write_text(source, encoding="utf-8")


@pytest.mark.parametrize(
    ("source", "code", "says"),
    [
        (RIGHT, 0, "✓ add is right"),
        (TAIL, 1, "✗ add is wrong for n = "),
        (RIGHT.replace("solve", "answer"), 3, "solve"),
        (SYNTAX_ERROR, 3, "does not compile"),
        (PAST_THE_END, 4, "✗ add faults for n = "),
    ],
)
def test_the_exit_code_tells_the_outcome(home: Path, desk: Path, kata: Run, source: str, code: int, says: str) -> None:
    write(desk, source)
    done = kata("check", "add")
    assert done.returncode == code, done.stdout + done.stderr
    assert says in done.stdout + done.stderr
    assert "\x1b" not in done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    assert max(map(len, done.stdout.splitlines()), default=0) <= 80


def test_the_answer_is_first_and_the_next_step_last(home: Path, desk: Path, kata: Run) -> None:
    write(desk, TAIL)
    lines = kata("check", "add").stdout.splitlines()
    assert lines[0].startswith("✗ add is wrong")
    assert lines[-1].startswith("  Next: kata hint add   (the same inputs: kata check add --seed ")
    assert any("n % 32" in line for line in lines)


def test_a_compile_error_points_at_the_users_own_line(home: Path, desk: Path, kata: Run) -> None:
    write(desk, SYNTAX_ERROR)
    error = kata("check", "add").stderr
    number = 1 + next(index for index, line in enumerate(SYNTAX_ERROR.splitlines()) if "a[j]" in line)
    assert f"add.cu:{number}:" in error
    lines = error.splitlines()
    shown = next(index for index, line in enumerate(lines) if "c[i]" in line or "a[j]" in line)
    assert lines[shown + 1].strip() == "^"
    assert lines[shown][lines[shown + 1].index("^")] == "j"


def test_json_carries_the_whole_answer(home: Path, desk: Path, kata: Run) -> None:
    write(desk, TAIL)
    done = kata("check", "add", "--json", "--seed", "7")
    record = json.loads(done.stdout)
    assert done.returncode == 1
    assert done.stderr == ""
    assert (record["schema"], record["kata"], record["verdict"], record["seed"]) == (1, "add", "wrong", 7)
    assert record["file"] == "add.cu"
    assert record["mismatches"][0]["parameter"] == "c"
    assert {"case", "group", "verdict", "seconds"} == set(record["cases"][0])


def test_json_on_a_compile_error_has_its_line_and_evidence(home: Path, desk: Path, kata: Run) -> None:
    write(desk, SYNTAX_ERROR)
    done = kata("check", "add", "--json")
    record = json.loads(done.stdout)
    assert done.returncode == 3
    assert record["verdict"] == "compile_error"
    assert record["error"]["line"] == 4
    assert '"j" is undefined' in record["error"]["evidence"]


def test_json_on_a_fault_names_the_line_and_the_thread(home: Path, desk: Path, kata: Run) -> None:
    write(desk, PAST_THE_END)
    record = json.loads(kata("check", "add", "--json").stdout)
    assert record["verdict"] == "fault"
    (hazard, *_) = record["hazards"]
    assert (hazard["class"], hazard["severity"], hazard["line"]) == ("out_of_bounds", "error", 3)
    assert len(hazard["block"]) == len(hazard["thread"]) == 3


def test_the_same_seed_gives_the_same_answer(home: Path, desk: Path, kata: Run) -> None:
    write(desk, TAIL)
    first, second = (json.loads(kata("check", "add", "--json", "--seed", "3").stdout) for _ in range(2))
    assert first["mismatches"] == second["mismatches"]


def test_verbose_shows_every_case(home: Path, desk: Path, kata: Run) -> None:
    write(desk, RIGHT)
    assert kata("check", "add", "-v").stdout.count("✓") > 5


def test_a_file_elsewhere_is_checked_by_name(home: Path, desk: Path, kata: Run) -> None:
    write(desk, RIGHT, "[bold]mine.cu")
    done = kata("check", "add", "[bold]mine.cu")
    assert done.returncode == 0
    assert "[bold]mine.cu" in done.stdout


def test_without_a_file_the_checkouts_skeleton_is_checked_inside_the_checkout_alone(home: Path, kata: Run) -> None:
    outside = kata("check", "add")
    assert (outside.returncode, "kata start add" in outside.stderr) == (2, True)
    inside = kata("check", "add", folder=home)
    assert inside.returncode == 1
    assert "wrong" in inside.stdout


def test_what_a_kernel_prints_is_shown_and_cannot_drive_the_terminal(home: Path, desk: Path, kata: Run) -> None:
    write(desk, PRINTS)
    done = kata("check", "add")
    assert "\\x1b[31m[bold]here" in done.stdout
    assert "\x1b" not in done.stdout


def test_a_missing_file_says_how_to_get_one(home: Path, kata: Run) -> None:
    done = kata("check", "add", "nowhere.cu")
    assert done.returncode == 2
    assert "there is no file nowhere.cu" in done.stderr
    assert "kata start add" in done.stderr


def test_a_folder_is_not_a_kernel(home: Path, desk: Path, kata: Run) -> None:
    (desk / "folder").mkdir()
    done = kata("check", "add", "folder")
    assert done.returncode == 2
    assert "is a folder" in done.stderr


def test_a_binary_is_not_a_kernel(home: Path, desk: Path, kata: Run) -> None:
    (desk / "add.cu").write_bytes(b"\x7fELF\0\0\0\1")
    done = kata("check", "add")
    assert done.returncode == 2
    assert "not text" in done.stderr


def test_an_unreadable_file_is_named(home: Path, desk: Path, kata: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    write(desk, RIGHT)
    (desk / "add.cu").chmod(0)
    try:
        (desk / "add.cu").read_bytes()
    except PermissionError:
        done = kata("check", "add")
        assert done.returncode == 2
        assert "Permission denied" in done.stderr
    else:
        pytest.skip("this user may read everything")


def test_a_file_that_is_not_utf_8_ends_in_words(home: Path, desk: Path, kata: Run) -> None:
    (desk / "add.cu").write_bytes(RIGHT.encode() + "// caf\xe9\n".encode("latin-1"))
    done = kata("check", "add")
    assert done.returncode in (0, 2, 3)
    assert "Traceback" not in done.stderr


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def progress_of(
    stream: io.StringIO, monkeypatch: pytest.MonkeyPatch, *, quiet: bool = False, waited: float = 0.0
) -> str:
    """What is shown of two groups of cases when the check has taken ``waited`` seconds."""
    clock = iter([0.0, *[waited] * 9])
    monkeypatch.setattr(check.time, "monotonic", lambda: next(clock))
    monkeypatch.setattr(check.sys, "stderr", stream)
    progress = check.Progress(stream, quiet=quiet)
    for group in ("small", "small", "large"):
        progress(CaseResult("n = 1", group, Outcome.RIGHT, 0.1))
    progress.finish()
    return stream.getvalue()


def test_progress_is_a_line_per_group_that_grows_at_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = progress_of(Terminal(), monkeypatch)
    assert shown.count("\n") == 2
    assert "\r  small      1 right" in shown
    assert "\r  small      2 right   0.2 s\n" in shown


def test_piped_progress_is_for_whoever_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    assert progress_of(io.StringIO(), monkeypatch, waited=0.5) == ""
    lines = progress_of(io.StringIO(), monkeypatch, waited=2.0).splitlines()
    assert lines == ["  small      2 right   0.2 s", "  large      1 right   0.1 s"]


def test_quiet_progress_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert progress_of(Terminal(), monkeypatch, quiet=True, waited=2.0) == ""

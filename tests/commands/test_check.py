"""``kata check`` from end to end: NVIDIA's compiler, the simulator, the grader, the page."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path

import pexpect
import pytest

from harness.commands import check
from harness.results import CaseResult, Outcome
from tests.commands.test_profile import sized
from tests.conftest import (
    CTRL_C,
    PAST_THE_END,
    PATIENCE,
    RIGHT,
    SKELETON,
    SYNTAX_ERROR,
    TAIL,
    Run,
    command,
    environment,
    press,
)

__all__ = ["sized"]

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
    assert inside.stdout.startswith("✗ add: ")


def test_the_skeleton_is_named_by_its_path_and_nobody_is_sent_to_change_it(home: Path, kata: Run) -> None:
    lines = kata("check", "add", folder=home).stdout.splitlines()
    assert lines[0].startswith("✗ add: solve launches no kernel") and "katas/add/add.cu · " in lines[0] + lines[1]
    assert lines[-1] == "  Next: kata start add, for a file of your own (this is the kata's skeleton)"
    (home / "katas/add/add.cu").write_text(TAIL, encoding="utf-8")
    assert "Next: kata hint add" in kata("check", "add", folder=home).stdout


def test_a_solve_without_a_launch_is_told_that_alone(home: Path, desk: Path, kata: Run) -> None:
    write(desk, SKELETON)
    first, remedy, next_step = kata("check", "add").stdout.splitlines()
    assert first.startswith("✗ add: solve launches no kernel")
    assert remedy == "  launch one from solve: kernel<<<blocks, threads>>>(...)" and "Next: kata hint" in next_step


def test_a_solve_that_only_fills_memory_is_told_that_it_launches_nothing(home: Path, desk: Path, kata: Run) -> None:
    write(desk, SKELETON.replace("int n) {\n", "int n) {\n    cudaMemset(c, 0, n * sizeof(float));\n"))
    done = kata("check", "add")
    assert done.returncode == 1 and done.stdout.startswith("✗ add is wrong for all")
    assert "Note  solve launches no kernel: it only fills or copies memory" in done.stdout
    write(desk, RIGHT, "right.cu")
    assert "launches no kernel" not in kata("check", "add", "right.cu", "-v").stdout


@pytest.mark.parametrize("named", ["add.cu", "./add.cu"])
def test_a_file_named_after_its_kata_may_stand_alone(home: Path, desk: Path, kata: Run, named: str) -> None:
    assert kata("check", named).returncode == 2  # there is none
    write(desk, TAIL)
    done = kata("check", named)
    assert done.returncode == 1 and done.stdout.startswith("✗ add is wrong for")
    assert json.loads(kata("check", named, "--json").stdout)["file"] == "add.cu"


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


def progress_of(stream: io.StringIO, *, quiet: bool = False, waited: float = 0.0) -> str:
    """What is shown of two groups of cases when the check has taken ``waited`` seconds."""
    clock = iter([0.0, *[waited] * 9])
    progress = check.Progress(stream, quiet=quiet, clock=lambda: next(clock))
    for group in ("small", "small", "large"):
        progress(CaseResult("n = 1", group, Outcome.RIGHT, 0.1))
    progress.finish()
    return stream.getvalue()


def test_progress_is_one_line_of_a_terminal_that_leaves_nothing_behind() -> None:
    shown = progress_of(Terminal())
    assert "\n" not in shown and "\r  small      2 right   0.2 s" in shown and "\r  large      1 right   0.1 s" in shown
    *_, last = shown.rstrip("\r").split("\r")
    assert not last.strip() and len(last) == len("  large      1 right   0.1 s") and shown.endswith("\r")


def test_piped_progress_is_for_whoever_waits() -> None:
    assert progress_of(io.StringIO(), waited=0.5) == ""
    lines = progress_of(io.StringIO(), waited=2.0).splitlines()
    assert lines == ["  small      2 right   0.2 s", "  large      1 right   0.1 s"]


def test_quiet_progress_shows_nothing() -> None:
    assert progress_of(Terminal(), quiet=True, waited=2.0) == ""


def spawned(desk: Path, *arguments: str) -> pexpect.spawn[str]:
    """The command at a terminal."""
    program, *words = command(*arguments)
    return pexpect.spawn(program, words, cwd=str(desk), env=environment(), timeout=PATIENCE, encoding="utf-8")


def screen_of(written: str) -> list[str]:
    """The lines that a terminal shows in the end: what follows a carriage return lies over what was there."""
    lines = []
    for line in re.sub(r"\x1b\[[0-9;]*m", "", written).split("\r\n"):
        shown = ""
        for text in line.split("\r"):
            shown = text + shown[len(text) :]
        lines.append(shown.rstrip())
    return lines


#: Right, and only where it is timed it takes the simulator longer than anybody waits.
SLOW_TO_PREDICT = RIGHT.replace(
    "if (i < n)",
    "float x = n;\n    for (int k = 0; n == 1048576 && k < 90000000; ++k) x = x * 0.5f + 1;\n    if (i < n && x != -1)",
)  # fmt: skip


def test_at_a_terminal_the_answer_is_alone_on_the_screen_once_it_is_there(sized: Path, desk: Path) -> None:
    write(desk, RIGHT)
    child = spawned(desk, "check", "add")
    child.expect(pexpect.EOF)
    shown = child.before or ""
    assert "predicting the time at n = 1048576 (Ctrl-C skips it) ..." in shown
    first, *others = screen_of(shown)
    assert first.startswith("✓ add is right") and "predicting" not in "".join(others)


def test_who_will_not_wait_for_the_time_still_has_the_verdict(sized: Path, desk: Path) -> None:
    write(desk, SLOW_TO_PREDICT)
    child = spawned(desk, "check", "add")
    child.expect("predicting the time")
    press(child, CTRL_C, "add is right")
    child.expect("no time is predicted for the A100-80 SXM: you stopped it")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0

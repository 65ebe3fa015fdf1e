"""The command as a whole: help, errors, exit codes, closed pipes, Ctrl-C."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import time
from pathlib import Path

import pytest

from harness.cli import VERBS
from tests.conftest import CTRL_C, PATIENCE, Run, command, environment, press


def test_help_lists_every_command(kata: Run) -> None:
    done = kata("--help")
    assert done.returncode == 0
    for verb in VERBS:
        assert f"\n  {verb} " in done.stdout
    assert "..." not in done.stdout.split("Commands:")[1], "a short help is cut off"


@pytest.mark.parametrize("verb", VERBS)
def test_each_command_has_help_with_an_example(kata: Run, verb: str) -> None:
    done = kata(verb, "--help")
    assert done.returncode == 0
    assert f"Example:  kata {verb}" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("chek", "add"), "Did you mean check?"),
        (("add",), "It is a kata: kata show add"),
        (("check",), "Missing argument 'NAME'"),
        (("check", "add", "--device", "tpu"), "'auto', 'gpu', 'sim'"),
        (("check", "add", "--seed", "-1"), "--seed"),
        (("list", "--colour"), "No such option"),
        (("show", "ad"), "Did you mean add?"),
        (("hint", "add", "4"), "has hints 1 to 3, not 4"),
        (("hint", "add", "0"), "has hints 1 to 3, not 0"),
        (("solution", "add", "9"), "has rungs 1 to 1, not 9"),
        (("reset", "add"), "kata start add"),
        (("start", "add", "nowhere"), "mkdir -p nowhere"),
    ],
)
def test_usage_errors_say_what_to_do(home: Path, kata: Run, arguments: tuple[str, ...], says: str) -> None:
    done = kata(*arguments)
    assert done.returncode == 2
    assert says in " ".join(done.stderr.split())
    assert not done.stdout
    assert "Traceback" not in done.stderr


def test_a_broken_catalogue_names_the_file_and_the_key(home: Path, kata: Run) -> None:
    toml = home / "katas/add/kata.toml"
    toml.write_text(toml.read_text(encoding="utf-8").replace("order = 1\n", ""), encoding="utf-8")
    done = kata("list")
    assert done.returncode == 2
    said = "".join(done.stderr.split())
    assert "katas/add/kata.toml" in said and "orderismissing" in said


def test_errors_are_json_when_json_was_asked_for(home: Path, kata: Run) -> None:
    (home / "katas/add/kata.toml").write_text("order = ", encoding="utf-8")
    record = json.loads(kata("list", "--json").stdout)
    assert record["schema"] == 1
    assert record["error"]["file"].endswith("kata.toml")
    assert record["error"]["exit_code"] == 2


@pytest.mark.parametrize("arguments", [
    ("check", "add", "--nonsense"), ("check",), ("check", "add", "--seed", "-1"), ("profile", "add", "--size", "x"),
    ("history", "-n", "0"), ("nonsense",), ("check", "nonsense"), ("check", "add", "a", "b", "c"),
])  # fmt: skip
def test_a_wrong_command_line_is_answered_in_json_too(arguments: tuple[str, ...], kata: Run) -> None:
    done = kata(*arguments, "--json")
    error = json.loads(done.stdout)["error"]
    assert done.returncode == error["exit_code"] == 2 and error["message"] and not done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
@pytest.mark.parametrize("arguments", [("list",), ("list", "--json"), ("stats",)])
def test_a_full_disk_is_no_bug_and_no_wrong_answer(desk: Path, arguments: tuple[str, ...]) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            command(*arguments), cwd=desk, env=environment(), stdout=full, stderr=subprocess.PIPE, text=True,
            check=False,
        )  # fmt: skip
    assert done.returncode == 5 and done.stderr == "kata: can't write: No space left on device\n"


@pytest.mark.skipif(sys.platform == "win32", reason="a folder in use can't go there")
def test_a_folder_that_is_gone_is_said(desk: Path) -> None:
    kernel = Path("solutions/add/1_one_thread_per_element.cu").absolute()
    words = shlex.join(command("check", "add", str(kernel)))
    gone = desk / "gone"
    gone.mkdir()
    done = subprocess.run(
        ["sh", "-c", f"rmdir {shlex.quote(str(gone))}; {words}"], cwd=gone, env=environment(), capture_output=True,
        text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 5 and done.stderr == "kata: the folder that you are in is gone; cd to another\n"


@pytest.mark.skipif(sys.platform == "win32", reason="pipes end otherwise there")
@pytest.mark.parametrize("arguments", [("list",), ("--help",), ("show", "add"), ("solution", "add")])
def test_a_closed_pipe_is_silent(home: Path, desk: Path, arguments: tuple[str, ...]) -> None:
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        command(*arguments), cwd=desk, env=environment(), stdout=write, stderr=subprocess.PIPE, text=True, check=False
    )
    os.close(write)
    assert done.stderr == ""
    assert done.returncode in (0, 141)


def test_plain_ascii_where_the_output_cannot_carry_more(home: Path, kata: Run) -> None:
    for changes in ({"PYTHONIOENCODING": "ascii"}, {"LC_ALL": "C"}, {"LANG": "C", "LC_ALL": ""}):
        done = kata("show", "add", **changes)
        assert done.returncode == 0
        assert done.stdout.isascii()
        assert "Asked: low - topics: memory" in done.stdout


def test_an_error_is_readable_in_ascii(kata: Run) -> None:
    done = kata("show", "adx", PYTHONIOENCODING="ascii")
    assert done.returncode == 2
    assert done.stderr.startswith("x there is no kata named")


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_ctrl_c_says_stopped_and_leaves_everything_as_it_was(home: Path, desk: Path) -> None:
    import pexpect

    mine = desk / "add.cu"
    mine.write_text("// mine\n", encoding="utf-8")
    program, *arguments = command("start", "add")
    child = pexpect.spawn(program, arguments, cwd=str(desk), env=environment(), timeout=PATIENCE, encoding="utf-8")
    child.expect(r"Replace add.cu .*\[y/N\]: ")
    press(child, CTRL_C, "stopped")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 130
    assert mine.read_text(encoding="utf-8") == "// mine\n"
    assert list(desk.iterdir()) == [mine]


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")
def test_an_interrupted_check_leaves_the_file_alone(home: Path, desk: Path) -> None:
    import signal

    mine = desk / "add.cu"
    endless = "__global__ void spin(float* c) { for (unsigned i = 0; c[0] != 0.5f; i = i * 5 + 1) c[0] = i * 2; }\n"
    source = endless + "void solve(const float* a, const float* b, float* c, int n) { spin<<<1, 1>>>(c); }\n"
    mine.write_text(source, encoding="utf-8")
    compiled = desk / "compiled"
    child = subprocess.Popen(
        command("check", "add"), cwd=desk, env=environment(KATA_CACHE=str(compiled)), stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    while not any(compiled.rglob("*")) and child.poll() is None:  # a sign of life: compiled, so about to run
        time.sleep(0.02)
    child.send_signal(signal.SIGINT)
    _, complaint = child.communicate(timeout=PATIENCE)
    assert child.returncode == 130, complaint
    assert complaint.strip().splitlines()[-1] == "stopped"
    assert "Traceback" not in complaint
    assert mine.read_text(encoding="utf-8") == source


def test_completion_offers_commands_and_katas(home: Path, kata: Run) -> None:
    words = kata(_KATA_COMPLETE="bash_complete", COMP_WORDS="kata sh", COMP_CWORD="1").stdout
    assert "show" in words
    names = kata(_KATA_COMPLETE="bash_complete", COMP_WORDS="kata show a", COMP_CWORD="2").stdout
    assert names.strip().endswith("add")


@pytest.mark.benchmarks
@pytest.mark.parametrize("arguments", [("--help",), ("list",)])
def test_start_up_takes_under_300_ms(kata: Run, arguments: tuple[str, ...]) -> None:
    seconds = []
    for _ in range(5):
        started = time.perf_counter()
        kata(*arguments)
        seconds.append(time.perf_counter() - started)
    assert sorted(seconds)[2] <= 0.3

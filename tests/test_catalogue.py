from __future__ import annotations

from pathlib import Path

import pytest

from harness import catalogue
from harness.errors import CatalogueError, UsageError
from tests.conftest import KATA_TOML


def broken(home: Path, old: str, new: str) -> CatalogueError:
    """The error that loading gives once ``old`` has become ``new`` in the kata's metadata."""
    assert old in KATA_TOML
    (home / "katas/add/kata.toml").write_text(KATA_TOML.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(CatalogueError) as caught:
        catalogue.load("add")
    assert caught.value.file == str(home / "katas/add/kata.toml")
    return caught.value


def test_a_kata_is_read_whole(home: Path) -> None:
    kata = catalogue.load("add")
    assert kata.signature == "void solve(const float* a, const float* b, float* c, int n)"
    assert [parameter.role for parameter in kata.parameters] == ["in", "in", "out", "scalar"]
    assert kata.skeleton == home / "katas/add/add.cu"
    assert kata.question == home / "katas/add/README.md"
    assert len(kata.hints) == 3
    assert kata.questions[0].answer == "Answer 1."


def test_rungs_come_from_the_solutions_folder_in_order(home: Path) -> None:
    for number in (10, 2):
        (home / f"solutions/add/{number}_more.cu").write_text(f"// Rung {number}: more\n", encoding="utf-8")
    assert [(rung.number, rung.title) for rung in catalogue.load("add").rungs] == [
        (1, "one thread per element"), (2, "more"), (10, "more"),
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["first.cu", "2-float4.cu", "notes.txt"])
def test_a_stray_file_among_solutions_is_named(home: Path, name: str) -> None:
    (home / "solutions/add" / name).write_text("// Rung 2: x\n", encoding="utf-8")
    with pytest.raises(CatalogueError, match="<number>_<slug>") as caught:
        _ = catalogue.load("add").rungs
    assert caught.value.file and caught.value.file.endswith(name)


@pytest.mark.parametrize("first", ["// Rung 3: wrong number", "__global__ void f() {}", "// Rung 2:", ""])
def test_a_solution_without_its_title_is_named(home: Path, first: str) -> None:
    (home / "solutions/add/2_x.cu").write_text(first + "\n", encoding="utf-8")
    with pytest.raises(CatalogueError, match="Rung 2: <title>"):
        _ = catalogue.load("add").rungs


def test_shapes_follow_the_arguments() -> None:
    parameter = catalogue.Parameter("m", "float*", "out", ("rows", "cols", 4))
    assert parameter.shape_for({"rows": 3, "cols": 5}) == (3, 5, 4)


@pytest.mark.parametrize(
    ("old", "new", "key"),
    [
        ('title = "Add two vectors"\n', "", "title is missing"),
        ("minutes = 5", 'minutes = "five"', "minutes is a int"),
        ("minutes = 5", "minutes = 0", "minutes"),
        ("order = 1", "order = true", "order"),
        ('frequency = "low"', 'frequency = "often"', "frequency: 'often'"),
        ('summary = "c = a + b, element by element"', 'summary = ""', "summary"),
        ('topics = ["memory"]', "topics = []", "topics"),
        ('topics = ["memory"]', 'topics = ["memory"]\ncolour = "red"', "colour is not a key"),
        ('role = "in"', 'role = "input"', "parameters[0].role"),
        ('type = "const float*"', 'type = "float*"', "parameters[0].type"),
        ('type = "const float*"', 'type = "float const * const"', "parameters[0].type"),
        ('shape = ["n"]', "", "parameters[0].shape"),
        ('shape = ["n"]', 'shape = ["m"]', "parameters: the shape of a holds 'm'"),
        ('shape = ["n"]', "shape = [1.5]", "parameters[0].shape"),
        ('shape = ["n"]', "shape = [0]", "parameters"),
        ('name = "b"', 'name = "a"', "parameters: a name appears twice"),
        ('role = "scalar"', 'role = "scalar"\ninitial = 1.0', "parameters[3].initial"),
        ('topic = "memory"', 'topic = "weather"', "questions[0].topic"),
        ('ask = "Question 1?"', 'ask = " "', "questions[0].ask"),
        ('text = "Round the number of blocks up."', 'text = 3', "hints[1].text"),
        ('text = "Round the number of blocks up."', 'txt = "x"', "hints[1].txt"),
        ("order = 1", "order = ", "not valid TOML"),
    ],
)  # fmt: skip
def test_an_error_names_the_file_and_the_key(home: Path, old: str, new: str, key: str) -> None:
    assert key in broken(home, old, new).message


def test_a_missing_metadata_file_is_named(home: Path) -> None:
    (home / "katas/add/kata.toml").unlink()
    with pytest.raises(CatalogueError, match="No such file"):
        catalogue.load("add")


def test_a_close_name_is_suggested(home: Path) -> None:
    with pytest.raises(UsageError) as caught:
        catalogue.load("ad")
    assert "Did you mean add?" in (caught.value.remedy or "")


@pytest.mark.parametrize("name", ["../add", "", "ADD", "nothing_like_it", "add/"])
def test_anything_else_is_no_kata(home: Path, name: str) -> None:
    with pytest.raises(UsageError, match="there is no kata named"):
        catalogue.load(name)


def test_the_order_is_the_katas_own(home: Path) -> None:
    other = home / "katas/zero"
    other.mkdir()
    (other / "kata.toml").write_text(KATA_TOML.replace("order = 1", "order = 9"), encoding="utf-8")
    (home / "katas/aaa").mkdir()
    (home / "katas/aaa/kata.toml").write_text(KATA_TOML.replace("order = 1", "order = 3"), encoding="utf-8")
    assert catalogue.names() == ("add", "aaa", "zero")


def test_a_wrong_kata_home_is_a_usage_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("KATA_CATALOGUE", str(tmp_path))
    with pytest.raises(UsageError, match="KATA_CATALOGUE"):
        catalogue.load("add")


def test_a_checkout_is_found_around_the_package() -> None:
    assert catalogue.home().checkout
    assert catalogue.home().katas.is_dir()


SPEEDY = 'par = 1\nflops = [2, "n"]\ngates = ["shared_memory"]\n'


def test_the_keys_about_speed_are_read(home: Path) -> None:
    text = KATA_TOML.replace('topics = ["memory"]\n', 'topics = ["memory"]\n' + SPEEDY, 1)
    path = home / "katas/add/kata.toml"
    path.write_text(text.replace("[[hints]]", "[[speed]]\nn = 8\n[[hints]]", 1), encoding="utf-8")
    kata = catalogue.load("add")
    assert (kata.par, kata.speed, kata.flops, kata.gates) == (1, ((("n", 8),),), (2, "n"), ("shared_memory",))
    assert (kata.least_bytes({"n": 8}), kata.least_flops({"n": 8})) == (96, 16)


def test_a_kata_need_not_be_timed(home: Path) -> None:
    kata = catalogue.load("add")
    assert kata.speed == () and kata.least_flops({"n": 8}) == 0


@pytest.mark.parametrize(
    ("new", "problem"),
    [
        ("par = 0\n", "rungs start at 1"), ('flops = ["m"]\n', "flops: holds"), ('gates = ["x"]\n', "shared_memory"),
        ("[[speed]]\nm = 3\n", "gives n"), ("[[speed]]\nn = 0\n", "at least 1"), ('[[speed]]\nn = "big"\n', "int"),
    ],
)  # fmt: skip
def test_a_mistake_about_speed_is_named(home: Path, new: str, problem: str) -> None:
    old = "[[hints]]\n" if new.startswith("[[") else "order = 1\n"
    assert problem in broken(home, old, new + old).message


@pytest.mark.parametrize("kata", catalogue.load_all(), ids=lambda kata: kata.name)
def test_every_kata_is_timed_and_its_par_is_one_of_its_rungs(kata: catalogue.Kata) -> None:
    assert kata.speed and 1 <= kata.par <= len(kata.rungs)


@pytest.mark.parametrize("kata", catalogue.load_all(), ids=lambda kata: kata.name)
def test_every_skeleton_fits_80_columns(kata: catalogue.Kata) -> None:
    assert max(map(len, kata.skeleton.read_text(encoding="utf-8").splitlines())) <= 80

"""Every rule speaks about a kernel that was written for it, and none about a kernel that does well.

``slow/<rule>.cu`` opens with what must be found: the rule, the line (if it is about one), and words that are said.
"""

from __future__ import annotations

import dataclasses
import re
from functools import cache
from pathlib import Path

import pytest

from harness import catalogue
from harness.catalogue import Kata
from harness.profiling import profile
from harness.reports.advice import Finding, advice, cost
from harness.reports.rules import RULES
from harness.simulator.gpus import load_gpu
from tests.conftest import KATA_TOML
from tests.reports import made

SLOW = Path(__file__).parent / "slow"
A100 = load_gpu("a100")

#: Large enough that a launch's start costs little, small enough to be counted in a moment.
N = 1 << 22


@pytest.fixture(scope="module")
def adding(tmp_path_factory: pytest.TempPathFactory) -> Kata:
    """A kata of two inputs, an output and a size."""
    folder = tmp_path_factory.mktemp("catalogue") / "add"
    folder.mkdir()
    (folder / "kata.toml").write_text(KATA_TOML, encoding="utf-8")
    return catalogue.read(folder)


def header(path: Path) -> dict[str, str]:
    return dict(re.findall(r"^// (finds|line|says): (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE))


def test_the_terms_of_made_up_profiles_are_those_of_real_ones(adding: Kata) -> None:
    real = profile(adding, SLOW / "tail.cu", "a100", {"n": N})
    assert set(made.profile().prediction.terms) == set(real.prediction.terms) == set(made.NAMES)


def test_every_rule_has_its_kernel() -> None:
    assert {header(path)["finds"] for path in SLOW.glob("*.cu")} == {rule.kind for rule in RULES}


@pytest.mark.parametrize("path", sorted(SLOW.glob("*.cu")), ids=lambda path: path.stem)
def test_a_rule_finds_what_its_kernel_was_written_for(path: Path, adding: Kata) -> None:
    expected = header(path)
    findings = advice(profile(adding, path, "a100", {"n": N}), A100)
    found = [one for one in findings if one.kind == expected["finds"] and one.behind is None]
    assert found, [f"{one.kind} {one.line} {one.cost:.2f} {one.behind}" for one in findings]
    if "line" in expected:
        assert int(expected["line"]) in [one.line for one in found]
    assert any(expected["says"] in f"{one.what}. {one.remedy}" for one in found), found
    assert all(0 < one.cost < 1 for one in found)


#: What the best rungs are told all the same, and why it is right.
TOLD = {
    "sgemm_naive": {"loaded_again"},  # the next kata, sgemm_tile, is about that
    "sgemm_tile": {"tail"},  # 256 tiles on 216 places of an A100
}


@cache
def best(name: str) -> list[Finding]:
    """What the best rung of a kata is told."""
    kata = catalogue.load(name)
    return advice(profile(kata, kata.rungs[-1].path, "a100"), A100)


@pytest.mark.parametrize("name", catalogue.names())
def test_the_best_rungs_are_left_in_peace(name: str) -> None:
    assert {one.kind for one in best(name)} == TOLD.get(name, set())


def test_what_something_slower_hides_is_said_to_be_hidden_and_comes_last() -> None:
    touched = made.LAUNCH.footprints
    far = tuple(dataclasses.replace(one, read=20 * one.read, written=20 * one.written) for one in touched)
    launch = dataclasses.replace(made.LAUNCH, footprints=far)
    findings = advice(made.profile(launch, {"DRAM": 1e-3}), A100)
    assert findings[-1].kind == "bank_conflict_store" and findings[-1].behind == "DRAM"
    assert cost(findings[-1]) == "hidden behind DRAM"


@pytest.mark.parametrize(
    ("rung", "rule", "line"),
    [
        (1, "uncoalesced_store", 12), (2, "uncoalesced_load", 15), (3, "bank_conflict_store", 15),
        (4, "one_element", None),
    ],
)
def test_the_costliest_finding_is_what_the_next_rung_removes(rung: int, rule: str, line: int | None) -> None:
    kata = catalogue.load("transpose")
    first = advice(profile(kata, kata.rungs[rung - 1].path, "a100"), A100)[0]
    assert (first.kind, first.line) == (rule, line)

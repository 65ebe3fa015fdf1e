"""Pages for a person: the first line is the answer, the last is the next step. Colours are left out when piped."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from click import style

from harness.errors import CompileError, KataError, SourceError
from harness.reports.speed import speed_lines
from harness.reports.text import brief_path, columns, count, excerpt, pasted, visible, width, wrap
from harness.results import CaseResult, Hazard, Mismatch, Outcome, Severity, Verdict

#: How much of each a page shows; ``-v`` shows everything.
MOST_LABELS, MOST_PATTERNS, MOST_HAZARDS, MOST_PRINTED = 6, 2, 5, 12

#: Kinds of hazards as they read after "faults for n = 33:", where the bare word would say too little.
_FAULTS = {
    "launch": "an invalid launch", "runaway": "it never ends", "unfinished": "it took too long",
    "barrier": "a barrier that not all threads reach",
    "missing_lanes": "a shuffle or vote whose mask names other lanes than come", "misaligned": "a misaligned access",
    "uninitialised": "memory read before it is written", "read_only": "a write to an input",
    "assert": "a failed assert", "double_free": "memory freed twice",
    "invalid_free": "a cudaFree of what cudaMalloc never gave",
}  # fmt: skip

#: The kind of hazard that ends nothing: there is just no answer.
_NO_LAUNCH = "no_launch"

_ONE_SIZE = re.compile(r"(\w+) = (\d+)")
_COLOURS = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.NOTE: "cyan"}


def check_page(
    verdict: Verdict, lead: Mismatch | None, *, verbose: bool = False, following: str | None = None
) -> str:
    """The summary of ``kata check``. ``lead`` is the mismatch that says most about what is wrong; ``following`` takes
    the place of the next step."""
    lines = _headline(verdict) + _only_where_timed(verdict)
    if verbose:
        lines += [_case_line(case) for case in verdict.cases]
    if lead and (verbose or not idle(verdict)):
        lines += _mismatches(verdict, lead, verbose)
    lines += _hazards(verdict, verbose)
    if verdict.speed:
        lines += speed_lines(verdict.speed, verbose=verbose)
    lines += _printed(verdict.printed, verbose)
    for remark in verdict.remarks:
        lines += wrap(remark)
    for warning in verdict.warnings:
        lines += wrap(f"Warning  {warning}", hanging=" " * 9)
    next_step = wrap(f"Next: {following}", hanging="  ") if following else _next_step(verdict)
    return "\n".join([*lines, *next_step])


def error_page(error: KataError) -> str:
    """What went wrong, where, the evidence, and what to do about it."""
    place = visible(error.file or "")
    if error.file and error.line:
        place += f":{error.line}"
    if not place and error.line:
        place = f"line {error.line}"
    message = f"{place}: {error.message}" if place else error.message
    if isinstance(error, CompileError) and error.evidence:
        message = f"{visible(error.file or 'the file')} does not compile"  # the compiler's own words follow
    lines = _marked("✗", "red", wrap(f"✗ {message}", indent="", hanging="  "))
    if error.evidence:
        lines += [f"  {line}".rstrip() for line in visible(error.evidence).rstrip().splitlines()]
    if error.file and error.line and not _points(error.evidence):
        lines += excerpt(Path(error.file), error.line, around=1)
    if error.remedy:
        lines += wrap(error.remedy)
    if isinstance(error, CompileError | SourceError) and error.line:
        lines.append(f"  Next: fix line {error.line}, and check again")
    return "\n".join(lines)


def group_line(group: str, cases: Iterable[CaseResult]) -> str:
    """One line of progress: ``  small      7 right, 1 wrong   0.2 s``."""
    done = list(cases)
    wrong = [case for case in done if case.outcome is not Outcome.RIGHT]
    counts = f"{len(done) - len(wrong)} right"
    if wrong:
        counts += style(f", {len(wrong)} {_words(wrong[0].outcome)}", fg="red")
    return f"  {group:<10} {counts}   {sum(case.seconds for case in done):.1f} s"


def join_labels(labels: Iterable[str], most: int = MOST_LABELS) -> str:
    """``n = 33, 257, 1000 and 4 more`` for labels of one size; ``rows = 1, cols = 2; rows = 3, ...`` for others."""
    labels = list(dict.fromkeys(labels))
    shown, name = "", None
    for label in labels[:most]:
        match = _ONE_SIZE.fullmatch(label)
        if match and match[1] == name:
            shown += f", {match[2]}"
        else:
            shown += f"; {label}" if shown else label
            name = match[1] if match else None
    more = len(labels) - most
    return f"{shown} and {more} more" if more > 0 else shown


def _headline(verdict: Verdict) -> list[str]:
    right = verdict.outcome is Outcome.RIGHT
    mark, colour = ("✓", "green") if right else ("✗", "red")
    first = f"{mark} {answer(verdict)}"
    about = f"{brief_path(Path(verdict.file))} · {verdict.device} · {verdict.seconds:.1f} s"
    room = width() - len(first) - len(about)
    if room >= 3:
        return _marked(mark, colour, [first + " " * room + about])
    return [*_marked(mark, colour, wrap(first, indent="", hanging="  ")), *wrap(about)]


def _only_where_timed(verdict: Verdict) -> list[str]:
    """What is wrong at no other size has to do with how large that one is."""
    right = sum(case.outcome is Outcome.RIGHT for case in verdict.cases)
    bad = [case for case in verdict.cases if case.outcome is not Outcome.RIGHT]
    if not right or not bad or any(case.group != "speed" for case in bad):
        return []
    return wrap(f"Only there, at the size that it is timed at: right for {count(right, 'other case')}.")


def answer(verdict: Verdict) -> str:
    """``softmax is right: 14 cases, no hazards``, or how it is not."""
    return f"{verdict.kata}: {idle(verdict)}" if idle(verdict) else f"{verdict.kata} {_standing(verdict)}"


def idle(verdict: Verdict) -> str | None:
    """What is said of a ``solve`` that does nothing in any case, None of others."""
    found = [next((one for one in case.hazards if one.kind == _NO_LAUNCH), None) for case in verdict.cases]
    errors = [one.message for one in found if one and one.severity is Severity.ERROR and not one.line]
    return errors[0] if errors and len(errors) == len(verdict.cases) else None


def _standing(verdict: Verdict) -> str:
    bad = [case for case in verdict.cases if case.outcome is not Outcome.RIGHT]
    good = len(verdict.cases) - len(bad)
    if verdict.outcome is Outcome.RIGHT:
        warnings = sum(hazard.severity is Severity.WARNING for hazard in verdict.hazards)
        return f"is right: {count(good, 'case')}, {count(warnings, 'warning') if warnings else 'no hazards'}"
    if verdict.outcome is Outcome.WRONG:
        if not good and len(bad) > 1:
            return f"is wrong for all {len(bad)} cases: {join_labels(case.label for case in bad)}"
        return f"is wrong for {join_labels(case.label for case in bad)} (right for {count(good, 'other case')})"
    errors = [hazard for hazard in verdict.hazards if hazard.severity is Severity.ERROR]
    what = _what(errors[0]) if errors else _words(verdict.outcome)
    where = f" for {join_labels(case.label for case in bad)}" if bad else ""
    return f"faults{where}: {what}"


def _what(error: Hazard) -> str:
    return error.title or _FAULTS.get(error.kind, error.kind.replace("_", " "))


def _mismatches(verdict: Verdict, lead: Mismatch, verbose: bool) -> list[str]:
    found = [lead, *(case.mismatch for case in verdict.cases if case.mismatch)]
    patterns = {(mismatch.parameter, mismatch.pattern): mismatch for mismatch in reversed(found)}
    others = [mismatch for mismatch in reversed(patterns.values()) if mismatch is not lead]
    lines = []
    for mismatch in [lead, *others][: None if verbose else MOST_PATTERNS]:
        index = ", ".join(map(str, mismatch.index))
        lines += wrap(mismatch.sentence)
        lines += columns(
            mismatch.case, f"{mismatch.parameter}[{index}]", f"got {mismatch.got}", f"expected {mismatch.expected}",
            "must be exact" if mismatch.allowed == "exact" else f"allowed {mismatch.allowed}",
            f"({mismatch.wrong} of {mismatch.size} wrong)",
        )  # fmt: skip
    return lines


def _hazards(verdict: Verdict, verbose: bool) -> list[str]:
    shown = [hazard for hazard in verdict.hazards if verbose or _matters(hazard, verdict)]
    shown.sort(key=lambda hazard: list(Severity).index(hazard.severity))
    lines = []
    for hazard in shown[: None if verbose else MOST_HAZARDS]:
        lines += _hazard(hazard, verdict)
    if not verbose and len(shown) > MOST_HAZARDS:
        lines.append(f"  and {len(shown) - MOST_HAZARDS} more (kata check -v shows all)")
    return lines


def _matters(hazard: Hazard, verdict: Verdict) -> bool:
    """Whether it is shown to who did not ask for everything: a note is where it may be why the answer is wrong."""
    return hazard.severity is not Severity.NOTE or (hazard.kind == _NO_LAUNCH and verdict.outcome is Outcome.WRONG)


def _hazard(hazard: Hazard, verdict: Verdict) -> list[str]:
    word = hazard.severity.value.capitalize()
    message = hazard.message
    if hazard.line and f"line {hazard.line}" not in message:
        message = f"{message.rstrip('.')}: line {hazard.line}"
    if message == idle(verdict):  # the first line has said so
        return wrap(hazard.remedy or "")
    cases = sum(any(_same(hazard, one) for one in case.hazards) for case in verdict.cases)
    if cases > 1:
        message += f" (in {cases} cases)"
    lines = _marked(word, _COLOURS[hazard.severity], wrap(f"{word}  {message}", hanging="  "))
    lines += excerpt(Path(verdict.file), hazard.line)
    return lines + (wrap(hazard.remedy, indent="    ") if hazard.remedy else [])


def _same(one: Hazard, other: Hazard) -> bool:
    """Whether two cases met the same thing: :func:`harness.grading.outcomes.merged` makes one of them."""
    return all(
        getattr(one, name) == getattr(other, name) for name in ("kind", "severity", "kernel", "line", "other_line")
    )


def _printed(printed: tuple[str, ...], verbose: bool) -> list[str]:
    if not printed:
        return []
    shown = printed if verbose else printed[:MOST_PRINTED]
    lines = ["  printf:", *(f"    {visible(line).rstrip()}" for text in shown for line in text.splitlines())]
    if len(shown) < len(printed):
        lines.append(f"    and {len(printed) - len(shown)} more lines (kata check -v shows all)")
    return lines


def _next_step(verdict: Verdict) -> list[str]:
    file = "" if verdict.file == f"{verdict.kata}.cu" else f" {pasted(verdict.file)}"
    if verdict.outcome is Outcome.RIGHT:
        following = verdict.speed and verdict.speed.grade and verdict.speed.grade.next
        why = f", or kata profile {verdict.kata}{file}" if verdict.speed else ""
        return wrap(f"Next: kata solution {verdict.kata} {following or '--list'}{why}", hanging="  ")
    hint = f"kata hint {verdict.kata}"
    again = f"(the same inputs: kata check {verdict.kata}{file} --seed {verdict.seed})"
    line = next((one.line for one in verdict.hazards if one.severity is Severity.ERROR and one.line), None)
    if line is None:
        beside = columns(f"Next: {hint}", again)
        return beside if len(beside) == 1 else [beside[0], *wrap(again, indent="    ")]
    step = columns(f"Next: fix line {line}, and check again", f"(stuck? {hint})", gap=" ")
    return [*step, *wrap(again, indent="    ")]


def _case_line(case: CaseResult) -> str:
    good = case.outcome is Outcome.RIGHT
    mark = style("✓", fg="green") if good else style("✗", fg="red")
    return f"  {mark} {case.group:<8} {case.label}   {case.seconds:.2f} s"


def _marked(word: str, colour: str, lines: list[str]) -> list[str]:
    """``lines`` with the first occurrence of ``word`` in the first of them coloured."""
    return [lines[0].replace(word, style(word, fg=colour, bold=True), 1), *lines[1:]]


def _points(evidence: str | None) -> bool:
    """Whether the evidence already shows a source line with a caret under it."""
    return any(line.strip().startswith("^") for line in (evidence or "").splitlines())


def _words(outcome: Outcome) -> str:
    return outcome.value.replace("_", " ")

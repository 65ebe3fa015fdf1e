"""What a wrong tail says of all sizes, ``n % 4``: told only where all cases are known and none speaks against it."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from harness.references import Case
from harness.results import CaseResult, Mismatch, Outcome, Tail

#: A remainder is told of where a tail has it at so many sizes, and "whatever n is" where it is as long at so many:
#: at fewer, chance will do.
REMAINDER_SIZES, WHATEVER_SIZES = 2, 3

#: Patterns that may be a tail beside something else: at a size without a remainder, they speak against one.
_PERHAPS_A_TAIL = ("scattered", "differs_between_runs")


@dataclass(frozen=True)
class _Cases:
    """The cases that ran, each with its sizes."""

    ran: tuple[tuple[Case, CaseResult], ...]

    @cached_property
    def wrong(self) -> list[tuple[Case, Mismatch]]:
        return [(case, result.mismatch) for case, result in self.ran if result.mismatch]

    def tails(self, name: str) -> dict[int, set[Tail]]:
        """The wrong tails along ``name``, by its length."""
        found: dict[int, set[Tail]] = {}
        for case, mismatch in self.wrong:
            for tail in mismatch.tails:
                if tail.name == name:
                    found.setdefault(_length(case, name), set()).add(tail)
        return found

    def support(self, name: str, divisor: int) -> int:
        """At how many lengths what ``divisor`` leaves over is what is wrong at the end; 0 where a length that it
        divides is wrong there too."""
        tails = self.tails(name)
        perhaps = {
            _length(case, name) for case, mismatch in self.wrong
            if not mismatch.tails and mismatch.pattern in _PERHAPS_A_TAIL
        }  # fmt: skip
        if any(length % divisor == 0 for length in perhaps | set(tails)):
            return 0
        return sum(any(divisor in tail.divisors for tail in found) for found in tails.values())

    def whatever(self, tail: Tail) -> str:
        """At which lengths the last ``left`` are wrong, where that is always as many; nothing where it isn't.

        A right case speaks against "whatever", though a bound may hide one element of very many.
        """
        tails = self.tails(tail.name)
        if len(tails) < WHATEVER_SIZES or any(one.left != tail.left for found in tails.values() for one in found):
            return ""
        right = any(
            result.outcome is Outcome.RIGHT and case.values == "random" and _length(case, tail.name) > tail.left
            for case, result in self.ran
        )
        return f"for {len(tails)} different {tail.name}" if right else f"whatever {tail.name} is"


def agreed(results: Iterable[CaseResult], cases: Sequence[Case]) -> tuple[CaseResult, ...]:
    """The results of the first of ``cases``, with what all of them together say of the tails that are wrong."""
    results = tuple(results)
    together = _Cases(tuple(zip(cases, results, strict=False)))
    return tuple(
        dataclasses.replace(one, mismatch=_told(one.mismatch, together)) if one.mismatch and one.mismatch.tails else one
        for one in results
    )


def _told(mismatch: Mismatch, together: _Cases) -> Mismatch:
    reasons = [reason for tail in mismatch.tails for reason in _remainders(tail, together)]
    sentence = mismatch.sentence
    if reasons:
        sentence += f": {', '.join(reasons)}"
    elif len(mismatch.tails) == 1 and (where := together.whatever(mismatch.tails[0])):
        sentence += f", {where}: look at where the loop, or the check of the index, ends"
    return dataclasses.replace(mismatch, sentence=sentence)


def _remainders(tail: Tail, together: _Cases) -> list[str]:
    """``["n % 4 = 1", "n % 8 = 1 (a block has 8 threads)"]``: those that most sizes agree with."""
    support = {divisor: together.support(tail.name, divisor) for divisor in tail.divisors}
    most = max(support.values(), default=0)
    held = [divisor for divisor, sizes in support.items() if sizes == most >= REMAINDER_SIZES]
    return [
        f"{tail.name} % {divisor} = {tail.left}" + (f" (a block has {divisor} threads)" * (divisor in tail.threads))
        for divisor in [divisor for divisor in held if divisor in tail.usual] or held[:1]
    ]


def _length(case: Case, name: str) -> int:
    """The size of that name, or of a product: ``rows*cols``."""
    return math.prod(case[factor] if factor in dict(case.sizes) else int(factor) for factor in name.split("*"))

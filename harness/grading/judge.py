"""A kata's reference put to use: what ``solve`` is called with in a case, and what is wrong with what it left."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from harness.catalogue import Kata, Parameter
from harness.devices import Argument, Buffer, Launched
from harness.grading.correctness import Comparison
from harness.grading.diagnosis import changed_input, diagnose
from harness.references import Case, Reference
from harness.results import Mismatch

#: What every buffer held after a call, by name.
Call = Mapping[str, np.ndarray]

#: The right answer, and how far off is allowed, by the kata's names.
Answer = tuple[Mapping[str, np.ndarray], Mapping[str, np.ndarray]]


@dataclass(frozen=True)
class Judge:
    """The reference of ``kata`` for a file that calls the parameters of ``solve`` by ``names``."""

    kata: Kata
    names: tuple[str, ...]
    reference: Reference

    def inputs(self, rng: np.random.Generator, case: Case) -> dict[str, Any]:
        """The case's inputs, which nobody may change from here on: the reference reads them later."""
        values = self.reference.inputs(rng, case)
        for value in values.values():
            if isinstance(value, np.ndarray):
                value.flags.writeable = False
        return values

    def arguments(self, values: Mapping[str, Any]) -> tuple[Argument, ...]:
        """What ``solve`` is called with: buffers named as in the file."""
        return tuple(self._argument(parameter, name, values) for parameter, name in self._parameters())

    def _parameters(self) -> Iterable[tuple[Parameter, str]]:
        """Each parameter of the kata with the user's own name for it."""
        return zip(self.kata.parameters, self.names, strict=True)

    def _argument(self, parameter: Parameter, name: str, values: Mapping[str, Any]) -> Argument:
        if parameter.role != "out":
            value = values[parameter.name]
            if not isinstance(value, np.ndarray):
                return value
            return Buffer(name, np.ascontiguousarray(value), only_read=parameter.role == "in")
        shape = parameter.shape_for(values)
        if parameter.initial is None:
            return Buffer.poisoned(name, shape)
        return Buffer(name, np.full(shape, parameter.initial, dtype=np.float32))

    def answer(self, values: Mapping[str, Any]) -> Answer:
        """What is right for these inputs."""
        expected = self.reference.expected(values)
        return expected, self.reference.error_bound(values, expected)

    def mismatch(
        self, case: Case, values: Mapping[str, Any], calls: Sequence[Call], launches: tuple[Launched, ...] = (),
        answer: Answer | None = None,
    ) -> Mismatch | None:  # fmt: skip
        """The first thing wrong: an input changed, else an output in kata.toml's order. ``answer`` saves its time."""
        if not calls:
            return None
        inputs = {name: values[p.name] for p, name in self._parameters() if p.role in ("in", "inout")}
        for parameter, name in self._parameters():
            if parameter.role == "in":
                for call in calls:
                    if changed := changed_input(case.label, name, inputs[name], call[name]):
                        return changed
        expected, bounds = answer or self.answer(values)
        for parameter, name in self._parameters():
            if parameter.role not in ("out", "inout"):
                continue
            compared = [
                Comparison(name, call[name], expected[parameter.name], bounds[parameter.name], parameter.initial)
                for call in calls
            ]
            dims = tuple(str(dim) for dim in parameter.shape)
            sizes = dict(case.sizes)
            if found := diagnose(case.label, compared, dims=dims, inputs=inputs, launches=launches, sizes=sizes):
                return found
        return None

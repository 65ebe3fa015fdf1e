"""From what each block of a launch counted to the figures of the whole launch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType

import numpy as np

from harness.profiles import Chain, Counters, Footprint, InstructionCounters, Traffic, WarpAccess
from harness.simulator import chains, isa, steps
from harness.simulator.costs import UNSEEN, Seen
from harness.simulator.counters import (
    FETCHING,
    FIRST,
    IDEAL,
    LANES,
    LINES,
    MOST,
    REQUESTS,
    UNITS,
    BatchTally,
    Key,
)
from harness.simulator.footprint import ATOM, INNER, SECTOR_BYTES, Summary, shared_by
from harness.simulator.kernel import Block, Kernel
from harness.simulator.patterns import Example
from harness.simulator.ptx import Instruction
from harness.simulator.traffic import ABSENT

#: What a batch touched of an allocation, the weights of its blocks, and which of them are inner ones.
_Touched = tuple[Summary, np.ndarray, np.ndarray]

#: Tallies, and for each of its blocks how many of the grid's it stands for.
Parts = Sequence[tuple[BatchTally, np.ndarray]]

_VERBS = {"read": "load", "write": "store", "update": "atomic"}
_FIELDS = {("local", "atomic"): "local_store"}
_WAYS = ("bra", "brx")


class Sums:
    """Weighed sums over the blocks of a launch that were counted, out of ``blocks`` in its grid."""

    def __init__(self, kernel: Kernel, parts: Parts, blocks: int) -> None:
        self.kernel = kernel
        self.parts = parts
        self.blocks = blocks
        self.inner = sum(int(part.inner.sum()) for part, _ in parts)
        self.whole = sum(len(part.numbers) for part, _ in parts) == blocks

    @cached_property
    def runs(self) -> dict[int, np.ndarray]:
        """Warps and lanes that ran each block of code, and warps that parted at its end."""
        found: dict[int, np.ndarray] = {}
        for part, weights in self.parts:
            for number, counts in part.runs.items():
                parted = part.parted.get(number, np.zeros(len(weights)))
                sums = np.array([*(counts @ weights), parted @ weights])
                found[number] = found.get(number, 0) + sums
        return found

    @cached_property
    def accesses(self) -> dict[Key, np.ndarray]:
        """The counts of each kind of access."""
        found: dict[Key, np.ndarray] = {}
        for part, weights in self.parts:
            for key, counts in part.accesses.items():
                found[key] = found.get(key, 0) + counts @ weights
        return found

    @property
    def work(self) -> float:
        """Lane instructions of the whole launch."""
        return sum(float(self.runs[block.number][1]) * len(_items(block)) for block in self._blocks())

    @property
    def warps_per_block(self) -> int:
        """Warps of a block."""
        return self.parts[0][0].warps_per_block

    def _blocks(self) -> Iterator[Block]:
        return (block for block in self.kernel.blocks if block.number in self.runs)

    # --- instructions

    def instructions(self) -> Iterator[InstructionCounters]:
        """Every instruction that ran, in program order."""
        widths = self.parts[0][0].widths
        traffic: dict[int, list[tuple[Key, np.ndarray]]] = {}
        for key, counts in self.accesses.items():
            traffic.setdefault(id(key[0].instruction), []).append((key, counts))
        for block in self._blocks():
            runs = self.runs[block.number]
            for item in _items(block):
                counters = _counters(item, runs, traffic.get(id(item), []), widths)
                yield InstructionCounters(".".join((item.opcode, *item.modifiers)), item.line, counters)

    def chain(self, weights: np.ndarray) -> Chain:
        """What a warp of the first batch waits for, whose blocks stand for so many of the grid's."""
        # A copy to shared memory is two accesses, and waits for the one that reads.
        ordered = sorted(self.accesses.items(), key=lambda one: one[0][1] != "shared")
        seen = {id(key[0].instruction): _seen(key[1], counts) for key, counts in ordered}
        code = {block.number: _items(block) for block in self.kernel.blocks}
        everyone = float(weights.sum()) * self.warps_per_block
        trace = [chains.Ran(number, float(warps @ weights) / everyone) for number, warps in self.parts[0][0].trace]
        return chains.chain(
            self.kernel.blocks, trace, lambda number, place: seen.get(id(code[number][place]), UNSEEN)
        )

    # --- memory

    def fetched(self) -> int:
        """Loaded sectors that came from the L2."""
        return _whole(sum(float(part.fetched @ weights) for part, weights in self.parts))

    def footprints(self) -> Iterator[Footprint]:
        """What is touched of each array, in the order of their addresses."""
        read, written = (self._touched(write) for write in (False, True))
        for address in sorted(read.keys() | written.keys()):
            allocation = (read.get(address) or written[address])[0][0].allocation
            loads, stores = (self._sizes(table.get(address, [])) for table in (read, written))
            yield Footprint(allocation.name, allocation.nbytes, loads[0], stores[0], loads[1], stores[1])

    def _touched(self, write: bool) -> dict[int, list[_Touched]]:
        found: dict[int, list[_Touched]] = {}
        for part, weights in self.parts:
            for one in part.touches[write]:
                found.setdefault(one.allocation.address, []).append((one, weights, part.inner))
        return found

    def _sizes(self, touched: list[_Touched]) -> tuple[int, int]:
        """Bytes of the distinct atoms of the launch, and of the distinct sectors of each block added up. The first is
        never more than lies between the first and the last byte that a counted block touched: the grid's corners were
        among them."""
        if not touched:
            return 0, 0
        hull = max(one.last for one, _, _ in touched) - min(one.first for one, _, _ in touched) + 1
        atoms = min(self._distinct(touched), hull)
        sectors = sum(float(one.sectors @ weights) for one, weights, _ in touched)
        nbytes = touched[0][0].allocation.nbytes
        return min(_whole(atoms) * ATOM * SECTOR_BYTES, nbytes), _whole(sectors) * SECTOR_BYTES

    def _distinct(self, touched: list[_Touched]) -> float:
        """Distinct atoms of the launch."""
        union = np.maximum.reduce([one.by for one, _, _ in touched])
        if self.whole:
            return float(np.count_nonzero(union))
        total = sum(float(one.atoms @ weights) for one, weights, _ in touched)
        apart = sum(float(one.atoms @ inner) for one, _, inner in touched)
        inner = int(np.count_nonzero(union == INNER))
        return total / shared_by(apart, inner, self.inner, self.blocks) if inner else total

    def same_address(self) -> int:
        """Lane operations on the busiest address. One that only one counted block updates is taken to be its own; those
        of others stand for the blocks that were not counted."""
        updates = [
            (address, amount, amount * (weights if part.together else weights[np.searchsorted(part.numbers, block)]))
            for part, weights in self.parts for address, block, amount in part.updates
        ]  # fmt: skip
        if not updates:
            return 0
        address, amount, weighed = (np.concatenate(columns) for columns in zip(*updates, strict=True))
        _, which, blocks = np.unique(address, return_inverse=True, return_counts=True)
        alone, together = (np.bincount(which, one) for one in (amount, weighed))
        return _whole(np.where(blocks > 1, together, alone).max())

    def worst(self) -> list[WarpAccess]:
        """One warp's access of each kind, the most wasteful first."""
        examples: dict[Key, Example] = {}
        for part, _ in self.parts:
            for key, one in part.worst.items():
                if key not in examples or one.weight > examples[key].weight:
                    examples[key] = one
        order = sorted(examples.items(), key=lambda item: item[1].weight, reverse=True)
        return [_example(key, one, self.kernel, self.parts[0][0].width(key[0])) for key, one in order]

    def answers(self) -> list[tuple[Instruction, float]]:
        """Atomics on global memory whose old value the kernel uses, and how many requests a block made of each."""
        return [
            (access.instruction, float(counts[REQUESTS]) / self.blocks)
            for (access, space), counts in self.accesses.items()
            if space == "global" and _uses_answer(access.instruction, self.kernel)
        ]


def _uses_answer(instruction: Instruction, kernel: Kernel) -> bool:
    return instruction.opcode == "atom" and any(name in kernel.used for name in steps.effects(instruction).writes)


def _items(block: Block) -> list[Instruction]:
    return [*block.instructions, block.end] if block.end is not None else block.instructions


def _whole(value: float) -> int:
    return round(float(value))


def _counters(
    item: Instruction, runs: np.ndarray, accesses: list[tuple[Key, np.ndarray]], widths: Mapping[int, int]
) -> Counters:
    warps, lanes, parted = map(_whole, runs)
    traffic: dict[str, Traffic] = {}
    met = {"global": 0, "shared": 0}
    for (access, space), counts in accesses:
        verb = _VERBS[access.verb]
        name = _FIELDS.get((space, verb), f"{space}_{verb}")
        found = Traffic(
            _whole(counts[REQUESTS]), _whole(counts[LANES]), _whole(counts[LANES]) * widths.get(id(item), access.width),
            _whole(counts[UNITS]), _whole(counts[IDEAL]), _whole(counts[LINES]),
        )  # fmt: skip
        traffic[name] = traffic.get(name, Traffic()) + found
        met[space] = met.get(space, 0) + _whole(counts[MOST])
    chooses = item.opcode in _WAYS and (item.guard is not None or item.opcode == "brx")
    flops = isa.flops(item) * lanes
    return Counters(
        instructions=warps, lanes=lanes, pipes=MappingProxyType({str(steps.pipe(item)): warps}),
        global_conflicts=met["global"], shared_conflicts=met["shared"],
        branches=warps if chooses else 0, divergent=parted if chooses else 0,
        barriers=warps if steps.meets_the_block(item) else 0,
        flops=flops, double_flops=flops if item.types and item.type == "f64" else 0, **traffic,
    )  # fmt: skip


def _seen(space: str, counts: np.ndarray) -> Seen:
    """What the chain needs to know of an access. Its turns are lines, or wavefronts."""
    requests = max(float(counts[REQUESTS]), 1.0)
    turns = float(counts[UNITS if space == "shared" else LINES])
    first, missed = float(counts[FIRST]) / requests, float(counts[FETCHING]) / requests
    return Seen(first, missed - first, max(0.0, turns / requests - 1.0))


def _example(key: Key, one: Example, kernel: Kernel, width: int) -> WarpAccess:
    access, space = key
    item = access.instruction
    name = one.allocation.name if one.allocation else f"{space} memory"
    if space == "shared":
        start = int(one.addresses[one.addresses != ABSENT].min())
        name = (kernel.shared_name(start) or (name, 0))[0]
    addresses = tuple(None if address == ABSENT else int(address) for address in one.addresses)
    return WarpAccess(item.line, space, _VERBS[access.verb], name, width, addresses, one.units, one.ideal)

"""What fences with flags order: between threads of one block, and between blocks.

A flag is any address that threads meet at by atomics or by volatile (or C++ atomic) accesses. Who meets there after a
fence *releases* what it did before the fence, and what others did before a barrier with it. Who meets there later has
*heard* of all that was released till then; once it has run a fence too, it has *acquired* it, and may read it as it
likes (PTX ISA, "Memory Consistency Model": release and acquire patterns). Who counts itself in needs no fence there:
NVIDIA's own sample of the last block that is done (threadFenceReduction) has none, and a GPU keeps that order: the
reads wait for the count, and find no stale line, as nothing was read before. What one thread learns, its warp knows,
and of other blocks' news its block: that a barrier tells them is taken on trust.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np

from harness.simulator.ordering import WARP_SHIFT, Moment, at
from harness.simulator.ptx import Instruction

#: Room for the lanes of one instruction between two steps: those of one atomic take their turns.
_TURNS = 1 << 24


class Scope(IntEnum):
    """How far a fence reaches: to the own block, or to all."""

    BLOCK = 0
    GRID = 1


_SCOPES = {"cta": Scope.BLOCK, "cluster": Scope.BLOCK, "gpu": Scope.GRID, "gl": Scope.GRID, "sys": Scope.GRID}


def scope_of(instruction: Instruction) -> Scope | None:
    """The scope that a fence, or an access that orders, names; None for neither."""
    return next((_SCOPES[word] for word in instruction.modifiers if word in _SCOPES), None)


def counts(instruction: Instruction) -> bool:
    """Whether it is an atomic that tells its lanes how many came before them."""
    return instruction.opcode == "atom" and instruction.has("add", "inc", "dec")


@dataclass(frozen=True)
class Fence:
    """Of one thread's last fence: when it was, and the thread's epoch and tick then; -1 for none."""

    time: int
    epoch: int
    tick: int


@dataclass(frozen=True)
class Release:
    """One thread's news at a place: when, its epoch and tick, and its last fence of each scope."""

    time: int
    thread: int
    epoch: int
    tick: int
    fences: tuple[Fence, Fence]


def _when(release: Release) -> int:
    return release.time


@dataclass
class Place:
    """An address that threads meet at: what each thread released there, by block, and up to when releasers had heard
    of other places. Times only grow; ``last`` is that of the last release, and ``seen`` when each thread was here last.
    """

    releases: dict[int, dict[int, list[Release]]] = field(default_factory=dict)
    through: dict[int, int] = field(default_factory=dict)
    last: int = -1
    seen: dict[int, int] = field(default_factory=dict)


@dataclass
class Knowledge:
    """Of a warp or a block: for each place up to when it has heard of releases there, and acquired them by fences of
    each scope."""

    heard: dict[int, int] = field(default_factory=dict)
    acquired: tuple[dict[int, int], dict[int, int]] = field(default_factory=lambda: ({}, {}))

    def hear(self, place: int, upto: int) -> None:
        """There is news at ``place``."""
        self.heard[place] = max(self.heard.get(place, -1), upto)

    def acquire(self, scope: Scope) -> None:
        """A fence of this scope: what was heard may be relied on."""
        for one in Scope:
            if one <= scope:
                self.acquired[one].update(self.heard)


@dataclass(frozen=True)
class Happened:
    """Accesses of one executed instruction: the threads, their blocks' epochs and their ticks, its step, and how many
    ``__syncwarp`` s its batch had executed."""

    threads: np.ndarray
    epochs: np.ndarray
    ticks: np.ndarray
    step: int
    count: int

    @classmethod
    def at(cls, moment: Moment, lanes: np.ndarray, first: int, step: int, lanes_per_block: int) -> Happened:
        """What ``lanes`` of a batch, whose lane 0 is thread ``first`` of the grid, did at ``moment``."""
        epochs = np.broadcast_to(at(moment.epoch, lanes // lanes_per_block), lanes.shape)
        ticks = np.broadcast_to(at(moment.tick, lanes), lanes.shape)
        return cls(lanes + first, epochs, ticks, step, moment.count)

    @property
    def time(self) -> int:
        """When it was, before any lane's turn in it."""
        return self.step * _TURNS

    def only(self, chosen: np.ndarray) -> Happened:
        """Those for which ``chosen`` holds."""
        return Happened(self.threads[chosen], self.epochs[chosen], self.ticks[chosen], self.step, self.count)


class GridOrder:
    """Order that fences and flags make between threads of one launch. Threads are numbered block by block, blocks
    padded to whole warps."""

    def __init__(self, blocks: int, lanes_per_block: int) -> None:
        self.blocks = blocks
        self.lanes_per_block = lanes_per_block
        self.any_fence = False
        # Per scope and thread: time, epoch and tick of its last fence, -1 for none; per block the time of its last.
        self._fences: tuple[tuple[np.ndarray, np.ndarray, np.ndarray], ...] = ()
        self._block_fenced = np.zeros(0, np.int64)
        # Per thread: where it met others last, and when.
        self._last_time = self._last_place = np.zeros(0, np.int64)
        # Per thread: who had written what it last looked at for news, and at which step.
        self._saw: tuple[np.ndarray, np.ndarray] | None = None
        self._places: dict[int, Place] = {}
        # Per block the places where it has released something.
        self._released: dict[int, set[int]] = {}
        self._warps: dict[int, Knowledge] = {}
        self._blocks: dict[int, Knowledge] = {}

    def _nobody(self) -> np.ndarray:
        return np.full(self.blocks * self.lanes_per_block, -1, np.int64)

    def fence(self, now: Happened, scope: Scope) -> None:
        """These threads ran a fence, or an access that releases as one would."""
        if not self.any_fence:
            self._fences = tuple((self._nobody(), self._nobody(), self._nobody()) for _ in Scope)
            self._last_time, self._last_place = self._nobody(), self._nobody()
            self._block_fenced = np.full(self.blocks, -1, np.int64)
            self.any_fence = True
        for one in Scope:
            if one <= scope:
                for known, value in zip(self._fences[one], (now.time, now.epochs, now.ticks), strict=True):
                    known[now.threads] = value
        self._block_fenced[now.threads // self.lanes_per_block] = now.time

    def acquire(self, now: Happened, scope: Scope) -> None:
        """These threads ran a fence, or an access that acquires: their warps and blocks rely on what they heard."""
        for owners, size in ((self._warps, 1 << WARP_SHIFT), (self._blocks, self.lanes_per_block)):
            if owners:
                for owner in np.unique(now.threads // size):
                    if int(owner) in owners:
                        owners[int(owner)].acquire(scope)

    def meet(self, now: Happened, addresses: np.ndarray, in_turn: bool) -> None:
        """These threads ran an atomic, or a volatile access, on these addresses; ``in_turn`` says that they did so in
        their order, as lanes of one atomic do."""
        if not self.any_fence:
            return
        matters = self._block_fenced[now.threads // self.lanes_per_block] >= 0
        if not matters.all():
            matters |= np.isin(addresses, list(self._places))
        if int(addresses[0]) == int(addresses[-1]):
            matters &= self._has_news(now.threads, int(addresses[0]))
        for one in np.flatnonzero(matters):
            time = now.time + (int(one) if in_turn else 0)
            self._meet(int(now.threads[one]), int(addresses[one]), int(now.epochs[one]), int(now.ticks[one]), time)

    def _has_news(self, threads: np.ndarray, address: int) -> np.ndarray:
        """Whether a thread would learn or tell anything: one that spins on an address does not, most of the time."""
        place = self._places.get(address)
        last = self._last_time[threads]
        told = self._block_fenced[threads // self.lanes_per_block] <= last
        return ~((self._last_place[threads] == address) & told & ((place.last if place else -1) <= last))

    def _meet(self, thread: int, address: int, epoch: int, tick: int, time: int) -> None:
        place = self._places.setdefault(address, Place())
        block = thread // self.lanes_per_block
        last_seen, fenced = place.seen.get(thread, -1), int(self._block_fenced[block])
        self._last_place[thread], self._last_time[thread] = address, time
        if place.last <= last_seen and fenced <= last_seen:
            return
        place.seen[thread] = time
        ours = self._blocks.setdefault(block, Knowledge())
        for knowledge in (self._warps.setdefault(thread >> WARP_SHIFT, Knowledge()), ours):
            knowledge.hear(address, time)
            for other, upto in place.through.items():
                knowledge.hear(other, upto)
        if fenced > last_seen:
            fences = [Fence(*(int(known[thread]) for known in self._fences[scope])) for scope in Scope]
            news = Release(time, thread, epoch, tick, (fences[0], fences[1]))
            place.releases.setdefault(block, {}).setdefault(thread, []).append(news)
            self._released.setdefault(block, set()).add(address)
            place.through.update(ours.heard)
            place.last = time

    def ordered(self, before: Happened, later: np.ndarray, acquired: bool) -> np.ndarray:
        """Whether what happened ``before`` is published to threads ``later``, one for each of its threads. Where they
        read it as ordinary memory they must have ``acquired`` it; else it is enough that they have heard of it."""
        result = np.zeros(len(later), np.bool_)
        if not self._places:
            return result
        source, target = before.threads // self.lanes_per_block, later // self.lanes_per_block
        # News of the own block reaches a warp, news of another one the block.
        reader = np.where(source == target, later >> WARP_SHIFT, -1 - target)
        for pair in set(zip(source.tolist(), reader.tolist(), strict=True)):
            block, who = pair
            scope = Scope.BLOCK if who >= 0 else Scope.GRID
            knowledge = self._warps.get(who) if who >= 0 else self._blocks.get(-1 - who)
            if knowledge is None or block not in self._released:
                continue
            chosen = (source == block) & (reader == who)
            known = knowledge.acquired[scope] if acquired else knowledge.heard
            result[chosen] = self._covered(before.only(chosen), self._heard_of(block, known), scope)
        return result

    def _covered(self, those: Happened, releases: Iterable[Release], scope: Scope) -> np.ndarray:
        result = np.zeros(len(those.threads), np.bool_)
        for release in releases:
            if those.time <= release.time:
                result |= self._published(release, those, scope)
                if result.all():
                    break
        return result

    def _heard_of(self, block: int, known: dict[int, int]) -> Iterator[Release]:
        """Of each thread of a block, at each place, the last release that is known: it covers all before."""
        for address in self._released[block]:
            upto = known.get(address)
            if upto is None:
                continue
            for releases in self._places[address].releases[block].values():
                count = bisect.bisect_right(releases, upto, key=_when)
                if count:
                    yield releases[count - 1]

    def _published(self, release: Release, before: Happened, scope: Scope) -> np.ndarray:
        """Fenced by the releasing thread, after it did it itself or met those who did; or fenced by those who did it,
        before they met the releasing thread."""
        fence = release.fences[scope]
        own_fence = self._fences[scope][0][before.threads] > before.time
        warp = before.threads >> WARP_SHIFT == release.thread >> WARP_SHIFT
        itself = before.time < fence.time or before.time == release.time - release.time % _TURNS
        return (
            ((before.threads == release.thread) & itself)
            | (before.epochs < fence.epoch)
            | (own_fence & (before.epochs < release.epoch))
            | (warp & (before.count < fence.tick))
            | (warp & own_fence & (before.count < release.tick))
        )

    def saw(self, threads: np.ndarray, writers: np.ndarray, steps: np.ndarray) -> None:
        """These threads looked for news where the ``writers`` (-1: nobody) had written last, at these steps."""
        if self._saw is None:
            self._saw = self._nobody(), self._nobody()
        self._saw[0][threads], self._saw[1][threads] = writers, steps

    def told_without_a_fence(self, before: Happened, later: np.ndarray) -> np.ndarray:
        """Whether threads ``later`` have seen, of the same thread, something that it wrote after what happened
        ``before`` with no fence since then: a flag that may overtake what it stands for."""
        if self._saw is None:
            return np.zeros(len(later), np.bool_)
        flagged = (self._saw[0][later] == before.threads) & (self._saw[1][later] > before.step)
        if self.any_fence:
            apart = before.threads // self.lanes_per_block != later // self.lanes_per_block
            last = [self._fences[scope][0][before.threads] for scope in Scope]
            flagged &= np.where(apart, last[Scope.GRID], last[Scope.BLOCK]) <= before.time
        return flagged

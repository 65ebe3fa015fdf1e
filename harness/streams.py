"""Which operations of ``solve`` wait for which: CUDA's streams and events, and the order that they leave open.

NVIDIA, "CUDA C++ Programming Guide", asynchronous concurrent execution: what is asked of one stream runs in order; the
default stream waits for the others and they for it, but for those made not to; whoever is told to waits for an event.
Here everything runs on one stream, in an order that these rules allow.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from harness.results import Hazard, Severity
from harness.steps import Launch, Memset, Step

#: The default stream. Others are numbered by kata.h; an odd number is a stream that doesn't wait for the default one.
DEFAULT = 0
_REMEDY = "put both on one stream, or cudaEventRecord behind the one and cudaStreamWaitEvent ahead of the other"


@dataclass(frozen=True)
class Use:
    """Bytes of memory that an operation was given, ``nbytes`` from ``address``, and whether it may write there."""

    address: int
    nbytes: int
    writes: bool

    def clashes(self, other: Use) -> bool:
        """Whether both are about the same bytes, and one may write."""
        apart = self.address + self.nbytes <= other.address or other.address + other.nbytes <= self.address
        return not apart and (self.writes or other.writes)


@dataclass
class Order:
    """Built up as ``solve`` goes on. Sets of operations are the bits of integers, operation 0 the lowest."""

    #: For each operation, those that are over before it starts.
    before: list[int] = field(default_factory=list)
    #: What the next operation on a stream comes after, what solve itself has waited for, what an event stands for.
    streams: dict[int, int] = field(default_factory=dict)
    host: int = 0
    events: dict[int, int] = field(default_factory=dict)

    def issue(self, stream: int) -> None:
        """The next operation, on a stream."""
        mine = self._ahead(stream)
        self.before.append(mine)
        self.streams[stream] = mine | 1 << (len(self.before) - 1)

    def issue_and_wait(self, for_all: bool) -> None:
        """The next operation, of the host itself; ``for_all``: once the device has nothing else to do."""
        if for_all:
            self.wait_for_all()
        self.before.append(self.host)
        self.host |= 1 << (len(self.before) - 1)

    def record(self, event: int, stream: int) -> None:
        """An event, behind what a stream has so far."""
        self.events[event] = self._ahead(stream)

    def let_wait(self, stream: int, event: int) -> None:
        """What comes next on a stream waits for an event; for none that was never recorded."""
        self.streams[stream] = self._ahead(stream) | self.events.get(event, 0)

    def wait_for_stream(self, stream: int) -> None:
        """The host waits for a stream."""
        self.host |= self._ahead(stream)

    def wait_for_event(self, event: int) -> None:
        """The host waits for an event."""
        self.host |= self.events.get(event, 0)

    def wait_for_all(self) -> None:
        """The host waits for the device."""
        self.host |= (1 << len(self.before)) - 1

    def _ahead(self, stream: int) -> int:
        mine = self.host | self.streams.get(stream, 0)
        if stream == DEFAULT:
            for other, ahead in self.streams.items():
                mine |= 0 if other % 2 else ahead
        elif not stream % 2:
            mine |= self.streams.get(DEFAULT, 0)
        return mine

    def open_pairs(self) -> Iterator[tuple[int, int]]:
        """Pairs of operations, the earlier first, that don't wait for each other; those close together come first."""
        for later, before in enumerate(self.before):
            yield from ((earlier, later) for earlier in reversed(range(later)) if not before >> earlier & 1)

    def backwards(self) -> tuple[int, ...]:
        """An order that the streams allow as well: what was asked for last first, unless it has to wait."""
        done, order = 0, []
        left = set(range(len(self.before)))
        while left:
            number = max(one for one in left if not self.before[one] & ~done)
            order.append(number)
            left.remove(number)
            done |= 1 << number
        return tuple(order)

    def clash(self, steps: Sequence[Step], uses: Sequence[Sequence[Use]]) -> Hazard | None:
        """The warning of the first two operations that may run at once and use the same memory; ``uses`` are those of
        each step."""
        for earlier, later in self.open_pairs():
            if any(one.clashes(other) for one in uses[earlier] for other in uses[later]):
                first, second = (_name(steps[number]) for number in (earlier, later))
                what = (
                    f"nothing makes {second} wait for {first} on line {steps[earlier].line}: they are on different "
                    "streams and use the same memory (here one runs after the other)"
                )
                return Hazard("streams", Severity.WARNING, what, steps[later].line, remedy=_REMEDY)
        return None


def _name(step: Step) -> str:
    return step.name if isinstance(step, Launch) else "cudaMemset" if isinstance(step, Memset) else "cudaMemcpy"

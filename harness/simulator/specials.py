"""Special registers: ``%tid.x``, ``%laneid`` and the like, as arrays over a batch, uniform where they can be."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from harness.errors import Unsupported

if TYPE_CHECKING:
    from harness.simulator.machine import Launch
    from harness.simulator.simt import Batch

#: Multiprocessors of the GPU that ``%nsmid`` speaks of (A100).
MULTIPROCESSORS = 108
#: Read anew each time. They count reads of a clock, not cycles: only their order means anything.
CLOCKS = frozenset({"%clock", "%clock64", "%globaltimer", "%globaltimer_lo"})


def known(name: str) -> bool:
    """Whether :func:`value` knows this register."""
    register, _, axis = name[1:].partition(".")
    return (register in _AXES and axis in ("x", "y", "z")) or (register in _SPECIALS and not axis)


def unknown(name: str) -> Unsupported:
    """What to say of a register that is not :func:`known`. ``%envreg`` says where a cooperative launch's barrier is."""
    if name.startswith("%envreg"):
        return Unsupported(
            "grid.sync() needs a cooperative launch, which is not simulated",
            remedy="end the kernel there and launch a second one: between two launches all blocks are done",
        )
    return Unsupported(f"the special register {name}")


def value(name: str, launch: Launch, batch: Batch) -> np.ndarray:
    """The register's value for each lane of a batch, or one for all. KeyError for one not :func:`known`."""
    register, _, axis = name[1:].partition(".")
    return _AXES[register](launch, batch, "xyz".index(axis)) if axis else _SPECIALS[register](launch, batch)


def _uniform(value: int, dtype: str = "u4") -> np.ndarray:
    return np.array([value], dtype)


def _thread_index(launch: Launch, batch: Batch, axis: int) -> np.ndarray:
    x, y, _ = launch.block
    if launch.block[axis] == 1:
        return _uniform(0)
    stride = (1, x, x * y)[axis]
    return (batch.thread // stride % launch.block[axis]).astype("u4")


def _block_index(launch: Launch, batch: Batch, axis: int) -> np.ndarray:
    x, y, _ = launch.grid
    stride = (1, x, x * y)[axis]
    values = batch.numbers // stride % launch.grid[axis]
    if (values == values[0]).all():
        return _uniform(int(values[0]))
    return values.astype("u4")[batch.block_of]


_AXES: dict[str, Callable[[Launch, Batch, int], np.ndarray]] = {
    "tid": _thread_index,
    "ctaid": _block_index,
    "ntid": lambda launch, batch, axis: _uniform(launch.block[axis]),
    "nctaid": lambda launch, batch, axis: _uniform(launch.grid[axis]),
}


def _lane(batch: Batch) -> np.ndarray:
    return (batch.thread & 31).astype("u4")


def _lane_mask(compare: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> Callable[[Launch, Batch], np.ndarray]:
    def value(launch: Launch, batch: Batch) -> np.ndarray:
        other = np.arange(32)
        weights = (compare(other[None, :], other[:, None]) * (1 << other)).sum(axis=1)
        return weights.astype("u4")[batch.thread & 31]

    return value


_SPECIALS: dict[str, Callable[[Launch, Batch], np.ndarray]] = {
    "laneid": lambda launch, batch: _lane(batch),
    "warpid": lambda launch, batch: (batch.thread >> 5).astype("u4"),
    "nwarpid": lambda launch, batch: _uniform(64),
    "smid": lambda launch, batch: (batch.numbers[batch.block_of] % MULTIPROCESSORS).astype("u4"),
    "nsmid": lambda launch, batch: _uniform(MULTIPROCESSORS),
    "gridid": lambda launch, batch: _uniform(1, "u8"),
    "lanemask_eq": _lane_mask(np.equal),
    "lanemask_lt": _lane_mask(np.less),
    "lanemask_le": _lane_mask(np.less_equal),
    "lanemask_gt": _lane_mask(np.greater),
    "lanemask_ge": _lane_mask(np.greater_equal),
    "dynamic_smem_size": lambda launch, batch: _uniform(launch.shared_bytes - launch.kernel.layout.static_shared),
    "total_smem_size": lambda launch, batch: _uniform(launch.shared_bytes),
}

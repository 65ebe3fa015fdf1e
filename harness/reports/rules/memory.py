"""Rules about memory: what moves for nothing between DRAM, caches, shared memory and registers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from harness.profiles import Counters, WarpAccess
from harness.reports.figures import wasteful
from harness.reports.rules.scene import Rule, Scene, Waste, line_with_most, of, plain, waiting
from harness.reports.text import figure

# Global memory


def _excess(name: str) -> Callable[[Scene], Waste]:
    """The part of all the launch's global sectors that this line moves for nothing."""
    def waste(scene: Scene) -> Waste:
        if not wasteful(scene.instruction(name)):
            return {}
        part = getattr(scene.counters, name).excess / scene.whole.sectors
        return {"L1": part, "L2": part, "DRAM": min(part, _unasked(scene)), "latency": part * waiting(scene, "replay")}

    return waste


def _unasked(scene: Scene) -> float:
    """The part of the bytes that DRAM moves which no lane asks for."""
    launch, whole = scene.estimate.launch, scene.whole
    moved = launch.dram_read + launch.dram_written
    asked = whole.global_load.nbytes + whole.global_store.nbytes + whole.global_atomic.nbytes
    return max(0.0, 1 - asked / moved) if moved else 0.0


def _sectors(name: str, verb: str) -> Callable[[Scene], str]:
    def what(scene: Scene) -> str:
        traffic = scene.instruction(name)
        access = scene.access("global", verb)
        array = f" of {access.name}" if access and access.name else ""
        return (
            f"A {verb}{array} moves {figure(traffic.per_request)} sectors a request where "
            f"{figure(traffic.ideal_per_request)} would do"
        )

    return what


def _coalesce(verb: str) -> Callable[[Scene], str]:
    def remedy(scene: Scene) -> str:
        access = scene.access("global", verb)
        step = stride(access) if access else None
        if step:
            return f"Neighbouring threads are {step:,} bytes apart: let them touch neighbouring elements."
        return "Let neighbouring threads touch neighbouring elements: threadIdx.x along a row."

    return remedy


def stride(access: WarpAccess) -> int | None:
    """Bytes from a lane's address to the next lane's, where most lanes agree; None where they don't."""
    pairs = zip(access.addresses, access.addresses[1:], strict=False)
    steps = Counter(second - first for first, second in pairs if first is not None and second is not None)
    if not steps:
        return None
    step, times = steps.most_common(1)[0]
    return abs(step) if times > sum(steps.values()) / 2 else None


def _single_words(scene: Scene) -> Waste:
    """Loads of 4 bytes a lane, side by side and used once: a quarter of the requests would do, and of the threads."""
    load, whole = scene.instruction("global_load"), scene.whole
    dense = load.requests and load.nbytes == 4 * load.lanes and load.per_request >= 3 and not wasteful(load)
    if not dense or _through_shared(whole) or _reuse(scene) >= 1.5:
        return {}
    return of(0.75 * scene.counters.global_load.requests / whole.global_load.requests, "latency", "issue", "integer")


def _through_shared(whole: Counters) -> bool:
    """Whether what is loaded goes on into shared memory, so that its place there decides its width."""
    return whole.shared_store.lanes > whole.global_load.lanes / 2


def _one_element(scene: Scene) -> Waste:
    """Threads that load once or twice, and wait for it, where each could have four times as much in flight."""
    launch, whole = scene.estimate.launch, scene.whole
    loads = whole.global_load.requests / (launch.blocks * launch.warps)
    return of(0.75, "latency") if 0 < loads <= 2 and _through_shared(whole) else {}


def _reuse(scene: Scene) -> float:
    """How often the launch loads each byte that it touches."""
    touched = scene.estimate.launch.dram_read
    return scene.whole.global_load.nbytes / touched if touched else 0.0


def _say_elements(scene: Scene) -> str:
    launch = scene.estimate.launch
    loads = scene.whole.global_load.requests / (launch.blocks * launch.warps)
    return f"Each thread loads {'one element, and waits for it' if loads <= 1 else 'two elements, and waits for them'}"


def _loaded_again(scene: Scene) -> Waste:
    """The part of the loads that a copy in shared memory or registers would spare."""
    times = _reuse(scene)
    return of(1 - 1 / times, "L1", "L2", "latency") if times >= 4 and not scene.estimate.launch.shared_bytes else {}


def _shared_for_each(scene: Scene) -> Waste:
    """Shared memory read for every multiply-add, where a tile in registers (4 x 4 outputs) would read a quarter."""
    whole = scene.whole
    dense = whole.flops > 2 * (whole.global_load.nbytes + whole.global_store.nbytes)
    adds = whole.flops / 64  # as warp instructions, a multiply-add counting two
    return of(0.75, "shared memory", "issue") if dense and whole.shared_load.units > 0.9 * adds else {}


# Shared memory


def _conflicts(name: str) -> Callable[[Scene], Waste]:
    def waste(scene: Scene) -> Waste:
        if not wasteful(scene.instruction(name)):
            return {}
        part = getattr(scene.counters, name).excess / scene.whole.wavefronts
        return {"shared memory": part, "latency": part * waiting(scene, "replay")}

    return waste


def _ways(name: str, verb: str) -> Callable[[Scene], str]:
    def what(scene: Scene) -> str:
        traffic = scene.instruction(name)
        access = scene.access("shared", verb)
        ways = traffic.units / traffic.ideal
        worst = f" ({access.units} at worst)" if access and access.units > 1.1 * traffic.per_request else ""
        takes = f"a {verb} takes {figure(traffic.per_request)} wavefronts{worst}"
        better = "" if traffic.ideal == traffic.requests else f" where {figure(traffic.ideal_per_request)} would do"
        return f"{figure(ways)}-way bank conflict: {takes}{better}"

    return what


def _unbank(verb: str) -> Callable[[Scene], str]:
    def remedy(scene: Scene) -> str:
        access = scene.access("shared", verb)
        words = (stride(access) or 0) // 4 if access else 0
        if words and words % 32 == 0:
            return f"Pad the tile's rows by one word: {words + 1} floats instead of {words}."
        if access and words > access.width // 4:
            return f"Neighbouring lanes are {words} words apart: let them touch neighbouring words."
        return "Spread the lanes over the 32 banks: pad the rows by one word, or swizzle the column (column ^ row)."

    return remedy


RULES = (
    Rule("uncoalesced_load", "line", _excess("global_load"), _sectors("global_load", "load"), _coalesce("load")),
    Rule("uncoalesced_store", "line", _excess("global_store"), _sectors("global_store", "store"), _coalesce("store")),
    Rule("loaded_again", "launch", _loaded_again,
         lambda scene: f"Each byte of the inputs is loaded {_reuse(scene):,.0f} times",
         plain("Bring it into shared memory once a block, and let all its threads use it there.")),
    Rule("single_words", "line", _single_words, plain("Each thread loads 4 bytes at a time"),
         plain("Load float4: one instruction moves 16 bytes, and more is in flight.")),
    Rule("one_element", "launch", _one_element, _say_elements,
         plain("Let each thread bring in four or more, whose loads are in flight together.")),
    Rule("shared_for_each", "launch", _shared_for_each, plain("Every multiply-add reads shared memory"),
         plain("Let each thread compute a small tile of outputs, 4 x 4 or 8 x 8, from values kept in registers."),
         lambda scene: line_with_most(scene, lambda counters: counters.shared_load.units)),
    Rule("bank_conflict_load", "line", _conflicts("shared_load"), _ways("shared_load", "load"), _unbank("load")),
    Rule("bank_conflict_store", "line", _conflicts("shared_store"), _ways("shared_store", "store"), _unbank("store")),
)  # fmt: skip

"""Predicted time: what must hold of any launch, what the words say, and the order of launches that were measured."""

from __future__ import annotations

import dataclasses
from functools import cache

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from harness.errors import UsageError
from harness.profiles import Counters, LaunchProfile, Transfer
from harness.simulator.gpus import Gpu, load_gpu, names
from harness.simulator.timing import predict, predict_all, whole
from tests.simulator.calibration_rows import counted, rows
from tests.simulator.launches import launch, traffic, wavefronts

A100, H200 = load_gpu("a100"), load_gpu("h200")
GPUS = st.sampled_from(names()).map(load_gpu)
MEGABYTES = st.integers(0, 500).map(lambda count: count << 20)


@st.composite
def launches(draw: st.DrawFn) -> LaunchProfile:
    """Any launch that fits every GPU."""
    counters = Counters(
        global_load=traffic(
            draw(st.integers(0, 10**7)), sectors=draw(st.integers(4, 32)), lines=draw(st.integers(1, 32))
        ),
        global_store=traffic(draw(st.integers(0, 10**7))),
        shared_load=wavefronts(draw(st.integers(0, 10**7)), draw(st.integers(1, 32))),
    )
    kinds = ("alu", "special", "shared", "l1", "fetch", "refetch", "barrier", "replay")
    steps = {kind: draw(st.floats(0, 1000)) for kind in kinds}
    slots = {unit: draw(st.floats(0, 10000)) for unit in ("issue", "fma", "alu", "special", "memory")}
    return launch(
        blocks=draw(st.integers(1, 10**6)), threads=draw(st.sampled_from([32, 128, 256, 1024])),
        registers=draw(st.integers(1, 64)), shared=draw(st.integers(0, 32 << 10)), counters=counters, steps=steps,
        slots=slots, read=draw(MEGABYTES), written=draw(MEGABYTES), same_address=draw(st.integers(0, 10**6)),
    )  # fmt: skip


def seconds(one: LaunchProfile, gpu: Gpu) -> float:
    return predict(one, gpu).seconds


#: What is computed twice may differ in the last bits.
SLACK = 1 + 1e-9


@given(launches(), GPUS)
def test_a_prediction_lies_in_its_band_and_above_the_launch_and_every_term(one: LaunchProfile, gpu: Gpu) -> None:
    found = predict(one, gpu)
    assert found.low < found.seconds < found.high and found.limiter
    assert all(0 <= term <= found.seconds * SLACK for term in found.terms.values())


@given(launches(), GPUS, st.sampled_from(["global_load", "global_store", "shared_load"]), st.integers(1, 10**7))
def test_more_traffic_is_never_faster(one: LaunchProfile, gpu: Gpu, kind: str, more: int) -> None:
    (only,) = one.instructions
    before = getattr(only.counters, kind)
    # Requests as wide as the others: how many lines they have on average tells how many wait for DRAM.
    lines = before.cache_lines // before.requests if before.requests else 1
    extra = wavefronts(more, 2) if kind == "shared_load" else traffic(more, lines=lines)
    counters = dataclasses.replace(only.counters, **{kind: before + extra})
    busier = dataclasses.replace(one, instructions=(dataclasses.replace(only, counters=counters),))
    assert seconds(busier, gpu) * SLACK >= seconds(one, gpu)


@given(launches(), GPUS, st.integers(1, 10**6), st.integers(1, 10**7))
def test_more_atomics_on_one_address_or_more_fetched_is_never_faster(
    one: LaunchProfile, gpu: Gpu, atomics: int, sectors: int
) -> None:
    assert seconds(dataclasses.replace(one, same_address=one.same_address + atomics), gpu) * SLACK >= seconds(one, gpu)
    assume(one.footprints)
    more = dataclasses.replace(one.footprints[0], read=one.footprints[0].read + 32 * sectors)
    assert seconds(dataclasses.replace(one, footprints=(more,)), gpu) * SLACK >= seconds(one, gpu)


@given(launches(), GPUS, st.sampled_from(["fetch", "refetch", "alu", "shared", "replay", "l1"]), st.floats(0.1, 100))
def test_a_longer_chain_is_never_faster(one: LaunchProfile, gpu: Gpu, kind: str, more: float) -> None:
    chain = dataclasses.replace(one.chain, steps=dict(one.chain.steps) | {kind: one.chain.steps[kind] + more})
    assert seconds(dataclasses.replace(one, chain=chain), gpu) * SLACK >= seconds(one, gpu)


@given(launches(), GPUS, st.floats(1.01, 3))
def test_a_gpu_with_more_of_something_is_never_slower(one: LaunchProfile, gpu: Gpu, factor: float) -> None:
    faster = [
        dataclasses.replace(gpu, l2_bandwidth=gpu.l2_bandwidth * factor),
        dataclasses.replace(gpu, dram_bandwidth=min(gpu.dram_bandwidth * factor, gpu.l2_bandwidth)),
        dataclasses.replace(gpu, special_lanes=int(gpu.special_lanes * 2)),
    ]
    assert all(seconds(one, better) <= seconds(one, gpu) * SLACK for better in faster)


@given(launches(), GPUS, st.integers(2, 4))
def test_a_gpu_of_so_many_times_the_sms_is_never_slower(one: LaunchProfile, gpu: Gpu, times: int) -> None:
    # The L2 grows with them. DRAM is left out: more blocks in flight push more of each other's data out of the L2.
    one = dataclasses.replace(one, footprints=())
    wider = dataclasses.replace(gpu, sms=gpu.sms * times, l2_bandwidth=gpu.l2_bandwidth * times)
    assert seconds(one, wider) <= seconds(one, gpu) * SLACK


def test_twice_the_blocks_take_longer_and_not_more_than_twice_as_long() -> None:
    def streamed(blocks: int) -> LaunchProfile:
        moved = blocks * 256 * 4
        return launch(blocks=blocks, counters=Counters(global_load=traffic(8 * blocks)), read=moved,
                      steps={"fetch": 1.0, "alu": 10.0}, slots={"issue": 15.0})  # fmt: skip

    short, long = (seconds(streamed(blocks), A100) for blocks in (50_000, 100_000))
    assert short < long <= 2 * short


STREAM = launch(counters=Counters(global_load=traffic(1 << 22), global_store=traffic(1 << 22)), read=512 << 20,
                written=512 << 20, steps={"fetch": 1.0, "alu": 10.0}, slots={"issue": 15.0})  # fmt: skip


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (STREAM, "DRAM bandwidth, 100 % of it useful"),
        (launch(blocks=1, steps={"fetch": 1000.0}, read=1 << 20), "one block: 107 of 108 SMs idle"),
        (launch(blocks=64, threads=128, steps={"fetch": 1000.0}, read=1 << 20), "64 blocks: 44 of 108 SMs idle"),
        (launch(threads=64, registers=255, steps={"fetch": 100.0}, read=1 << 20), "latency: 8 warps in flight per SM"),
        (launch(counters=Counters(shared_load=wavefronts(10**7, 32))), "shared memory: 32-way conflicts on line 7"),
        (launch(counters=Counters(shared_load=wavefronts(10**8, 1))), "shared memory bandwidth"),
        (launch(counters=Counters(global_load=traffic(10**7, sectors=32, lines=32)), read=1 << 20),
         "L1: 32 cache lines a request on line 7"),
        (launch(same_address=10**6), "atomics on one address, one after the other"),
        (launch(blocks=10**6, threads=32), "blocks to be started: 1,000,000 of 32 threads"),
        (launch(slots={"issue": 10000.0}), "instructions issued"),
        (launch(slots={"issue": 1000.0, "special": 900.0}), "special functions (exp, sin, division, conversions)"),
        (launch(slots={"issue": 10.0, "fp64": 900.0}), "double-precision arithmetic"),
        (launch(blocks=1, threads=32), "the launch itself: there is little to do"),
    ],
)  # fmt: skip
def test_the_limiter_in_words(made: LaunchProfile, words: str) -> None:
    assert predict(made, A100).limiter == words


@pytest.mark.parametrize(("passes", "useful"), [(0.25, 25), (1, 100), (3, 100)])
def test_what_lanes_asked_for_is_the_useful_part_of_the_bandwidth(passes: float, useful: int) -> None:
    nbytes = 512 << 20
    counters = Counters(global_load=traffic(int(passes * nbytes / 128)))
    found = predict(launch(read=nbytes, counters=counters), A100)
    assert found.limiter == f"DRAM bandwidth, {useful} % of it useful"


def test_float_additions_on_one_address_are_told_from_other_atomics() -> None:
    counters = Counters(global_atomic=traffic(1000))
    *floats, whole_number, swapped, half = (
        predict(launch(same_address=10**5, counters=counters, mnemonic=word), A100).terms["atomics"]
        for word in ("red.global.add.f32", "atom.global.add.f64", "atom.global.add.u32", "atom.global.cas.b32",
                     "atom.global.add.noftz.f16x2")
    )  # fmt: skip
    assert 0 < whole_number == swapped < min(floats) == max(floats) == half


def test_memory_that_is_busy_answers_later() -> None:
    def reading(nbytes: int) -> LaunchProfile:
        counters = Counters(global_load=traffic(nbytes // 128))
        return launch(blocks=108, steps={"fetch": 1000.0}, read=nbytes, counters=counters)

    alone, together = (predict(reading(nbytes), A100) for nbytes in (1 << 20, 400 << 20))
    assert alone.terms["latency"] < together.terms["latency"] < 2.5 * alone.terms["latency"]


def test_local_memory_reaches_the_l2_only_beyond_what_the_l1_holds() -> None:
    def spilling(nbytes: int) -> float:
        counters = Counters(local_load=traffic(10**6), local_store=traffic(10**6))
        made = dataclasses.replace(launch(counters=counters), spills=nbytes)
        return predict(made, A100).terms["L2"]

    assert spilling(16) == 0 < spilling(400) < spilling(4000)


def test_an_array_that_the_launch_before_left_in_the_l2_is_not_read_again() -> None:
    small, large = (
        launch(read=size, counters=Counters(global_load=traffic(size // 128))) for size in (4 << 20, 400 << 20)
    )
    cold, warm = predict_all([small, small], A100)
    assert warm.prediction.terms["DRAM"] == 0 < cold.prediction.terms["DRAM"]
    first, second = predict_all([large, large], A100)
    assert second.prediction.seconds == first.prediction.seconds


def test_an_array_of_which_the_launch_before_read_a_part_is_warm_in_that_part() -> None:
    one, all_of_it = (
        launch(read=size, counters=Counters(global_load=traffic(size // 128))) for size in (1 << 20, 8 << 20)
    )
    alone = predict(all_of_it, A100).terms["DRAM"]
    assert 0.8 * alone < predict_all([one, all_of_it], A100)[1].prediction.terms["DRAM"] < alone


def test_a_call_is_its_launches_its_transfers_and_the_time_between_them() -> None:
    estimates = predict_all([STREAM, dataclasses.replace(STREAM, times=3)], A100)
    alone = estimates[0].prediction.seconds
    found = whole(estimates, (Transfer("memset", 1 << 20, 5),), A100)
    physics = A100.physics
    moved = (1 << 20) / (A100.dram_bandwidth * physics.dram_achieved)
    assert found.seconds == pytest.approx(4 * (alone - physics.launch) + physics.launch + 4 * physics.relaunch + moved)
    assert found.limiter == "DRAM bandwidth in kernel, 100 % of it useful"
    with pytest.raises(ValueError, match="neither"):
        whole((), (), A100)


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (launch(blocks=1, threads=32), "the launch itself in kernel: there is little to do"),
        (launch(slots={"issue": 1000.0, "special": 900.0}),
         "special functions in kernel (exp, sin, division, conversions)"),
        (launch(slots={"issue": 10000.0}), "instructions issued in kernel"),
    ],
)  # fmt: skip
def test_of_several_launches_the_kernel_that_takes_longest_is_named(made: LaunchProfile, words: str) -> None:
    assert whole(predict_all([made, made], A100), (), A100).limiter == words


def test_a_block_that_does_not_fit_has_no_time() -> None:
    with pytest.raises(UsageError, match="more shared memory than an SM of the T4"):
        predict(launch(shared=100 << 10), load_gpu("t4"))


@cache
def _counted(name: str) -> LaunchProfile:
    return counted(next(row for row in rows() if row.name == name))


@pytest.mark.parametrize(
    ("slower", "faster"),
    [("tr_naive", "tr_tile"), ("tr_tile", "tr_tile_pad"), ("tr_tile_pad", "tr_tile_pad_32x8"),
     ("red_modulo", "red_seq"), ("red_shfl", "red_seq"), ("sp32_s32", "sp32_s16"), ("sp128_s16", "sp128_s4"),
     ("gl_stride_s32", "gl_stride_s8"),
     ("add_chunk8", "add_scalar"), ("add_scalar", "add_vec4"), ("relu_divergent", "sigmoid_scalar")],
)  # fmt: skip
def test_what_an_h200_runs_slower_is_predicted_to_be_slower(slower: str, faster: str) -> None:
    assert predict(_counted(slower), H200).seconds > 1.02 * predict(_counted(faster), H200).seconds

"""The state machine of an attempt: every transition, with a clock of the test's own."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.commands.attempts import exit_code
from harness.errors import CompileError, EnvironmentFault
from harness.practice.events import (
    Action,
    Begin,
    CaseDone,
    Check,
    Checked,
    Edit,
    EditorReturned,
    Event,
    Graded,
    Interrupted,
    Keep,
    Key,
    Noticed,
    Opened,
    Result,
    Resumed,
    Ring,
    Saved,
    SeenElsewhere,
    Snapshot,
    Suspended,
    Tick,
)
from harness.practice.records import Ending
from harness.practice.rules import LONGEST_GAP, Asked, Panel, Phase, Rules
from harness.practice.session import KEEP_EVERY, Session
from harness.results import CaseResult, Outcome, Verdict

SKELETON, WRONG, RIGHT, OTHER = (Snapshot(text) for text in (b"skeleton", b"wrong", b"right", b"other"))

CASE = CaseResult("n = 1", "small", Outcome.RIGHT, 0.1)


def result(outcome: Outcome = Outcome.RIGHT) -> Result:
    return Result(Verdict("add", "add.cu", "simulated", 1, outcome, (), 0.1))


class Sitting:
    """A session driven by hand: ``now`` is the clock, and every action is kept."""

    def __init__(
        self, minutes: float | None = 10, *, interview: bool = False, used: float = 0.0, hints: int = 0
    ) -> None:
        seeds = itertools.count(1)
        rules = Rules(3, minutes, interview)
        self.session = Session(rules, lambda: next(seeds), used=used, hints=hints)
        self.now = 100.0
        self.actions: list[Action] = []

    def meet(self, *events: Event) -> list[Action]:
        """Let these happen at once; the actions that they caused."""
        caused = [action for event in events for action in self.session.handle(event, self.now)]
        self.actions += caused
        return caused

    def press(self, *keys: str) -> list[Action]:
        return self.meet(*map(Key, keys))

    def wait(self, seconds: float) -> list[Action]:
        """Let time go by, with a tick every second as in life."""
        caused = []
        for step in [1.0] * int(seconds) + [seconds % 1.0] * (seconds % 1.0 > 0):
            self.now += step
            caused += self.meet(Tick())
        return caused

    def start(self) -> Sitting:
        self.press("enter")
        self.meet(Opened(SKELETON))
        return self

    def check(self, snapshot: Snapshot, outcome: Outcome = Outcome.RIGHT) -> list[Action]:
        """Save, and have the check end at once."""
        return self.meet(Saved(snapshot), Checked(snapshot, result(outcome), 0.1))


def checks(actions: Iterable[Action]) -> list[Snapshot]:
    return [action.snapshot for action in actions if isinstance(action, Check)]


def test_the_clock_stands_until_enter() -> None:
    sitting = Sitting()
    sitting.wait(30)
    assert sitting.session.phase is Phase.READY
    assert sitting.session.left == 600
    assert sitting.press("enter") == [Begin(), Edit()]
    sitting.wait(30)
    assert sitting.session.left == 570


def test_other_keys_start_nothing_and_x_leaves_without_a_trace() -> None:
    sitting = Sitting()
    assert sitting.press("h", "s", "g", "e", "y") == []
    assert sitting.press("x") == []
    assert sitting.session.phase is Phase.LEFT


def test_the_skeleton_is_not_checked_but_every_save_is() -> None:
    sitting = Sitting()
    sitting.press("enter")
    sitting.now += 0.01  # writing it takes a moment
    assert checks(sitting.meet(Opened(SKELETON))) == []
    assert checks(sitting.meet(Saved(WRONG))) == [WRONG]


def test_each_check_has_inputs_of_its_own() -> None:
    sitting = Sitting().start()
    sitting.check(WRONG, Outcome.WRONG)
    sitting.check(RIGHT)
    seeds = [action.seed for action in sitting.actions if isinstance(action, Check)]
    assert seeds == [1, 2]


def test_saves_during_a_check_coalesce_to_the_newest() -> None:
    sitting = Sitting().start()
    assert checks(sitting.meet(Saved(WRONG))) == [WRONG]
    assert checks(sitting.meet(Saved(OTHER), Saved(RIGHT))) == []
    assert sitting.session.checking == WRONG
    assert checks(sitting.meet(Checked(WRONG, result(Outcome.WRONG), 0.1))) == [RIGHT]
    assert checks(sitting.meet(Checked(RIGHT, result(), 0.1))) == []


def test_the_cases_of_a_running_check_are_counted_and_forgotten() -> None:
    sitting = Sitting().start()
    sitting.meet(Saved(WRONG), CaseDone(CASE, 20), CaseDone(CASE, 20))
    assert len(sitting.session.progress) == 2
    sitting.meet(Checked(WRONG, result(Outcome.WRONG), 0.1))
    assert sitting.session.progress == []


def test_submitting_what_is_known_to_be_right_passes_at_once() -> None:
    sitting = Sitting().start()
    sitting.wait(60)
    sitting.check(RIGHT)
    sitting.wait(30)
    assert checks(sitting.press("s")) == []
    assert sitting.session.ending is Ending.PASSED
    assert exit_code(sitting.session) == 0


def test_a_right_answers_time_is_when_it_was_saved() -> None:
    sitting = Sitting().start()
    sitting.wait(60)
    sitting.check(RIGHT)
    sitting.wait(30)
    sitting.press("s")
    assert sitting.session.used == 60


def test_submitting_anything_else_asks_first() -> None:
    sitting = Sitting().start()
    sitting.check(WRONG, Outcome.WRONG)
    sitting.press("s")
    assert sitting.session.asked is Asked.SUBMIT
    sitting.press("n")
    assert sitting.session.asked is None
    assert sitting.session.phase is Phase.RUNNING


@pytest.mark.parametrize(("outcome", "ending", "code"), [
    (Outcome.RIGHT, Ending.PASSED, 0), (Outcome.WRONG, Ending.FAILED, 1), (Outcome.FAULT, Ending.FAILED, 4),
])  # fmt: skip
def test_handing_in_is_graded_once_and_for_all(outcome: Outcome, ending: Ending, code: int) -> None:
    sitting = Sitting(interview=True).start()
    sitting.meet(Saved(OTHER))
    sitting.wait(5)
    assert checks(sitting.press("s", "y")) == [OTHER]
    assert sitting.session.phase is Phase.JUDGING
    assert sitting.meet(Saved(WRONG)) == []
    sitting.wait(9)
    sitting.meet(Checked(OTHER, result(outcome), 0.1))
    assert sitting.session.ending is ending
    assert sitting.session.used == 5
    assert exit_code(sitting.session) == code


def test_what_does_not_compile_fails_with_its_own_exit_code() -> None:
    sitting = Sitting().start()
    sitting.meet(Saved(WRONG))
    sitting.press("s", "y")
    sitting.meet(Checked(WRONG, Result(error=CompileError("no")), 0.1))
    assert sitting.session.ending is Ending.FAILED
    assert exit_code(sitting.session) == 3


def test_handing_in_waits_for_the_check_that_runs_and_repeats_nothing() -> None:
    sitting = Sitting().start()
    sitting.meet(Saved(RIGHT))
    assert checks(sitting.press("s", "y")) == []
    sitting.meet(Checked(RIGHT, result(), 0.1))
    assert sitting.session.ending is Ending.PASSED


def test_handing_in_while_an_older_save_is_checked_grades_the_newest() -> None:
    sitting = Sitting().start()
    sitting.meet(Saved(RIGHT), Saved(WRONG))
    sitting.press("s", "y")
    assert checks(sitting.meet(Checked(RIGHT, result(), 0.1))) == [WRONG]
    sitting.meet(Checked(WRONG, result(Outcome.WRONG), 0.1))
    assert sitting.session.ending is Ending.FAILED


def test_an_interview_checks_nothing_before_it_is_handed_in() -> None:
    sitting = Sitting(interview=True).start()
    sitting.meet(Saved(WRONG), Saved(RIGHT))
    sitting.wait(20)
    assert not checks(sitting.actions)


def test_the_bell_grades_what_was_saved_last_once() -> None:
    sitting = Sitting().start()
    sitting.check(WRONG, Outcome.WRONG)
    sitting.meet(Saved(OTHER), Checked(OTHER, result(Outcome.WRONG), 0.1))
    caused = sitting.wait(600)
    assert Ring() in caused
    assert checks(caused) == [OTHER]
    sitting.meet(Checked(OTHER, result(Outcome.WRONG), 0.1))
    assert sitting.session.ending is Ending.TIMED_OUT
    assert exit_code(sitting.session) == 1


def test_a_right_file_that_the_bell_hands_in_is_late() -> None:
    sitting = Sitting(interview=True).start()
    sitting.meet(Saved(RIGHT))
    sitting.wait(600)
    sitting.meet(Checked(RIGHT, result(), 0.1))
    assert sitting.session.ending is Ending.PASSED
    assert sitting.session.used >= 600


def test_a_file_known_to_be_right_before_the_bell_is_not_late_nor_checked_again() -> None:
    sitting = Sitting().start()
    sitting.wait(100)
    sitting.check(RIGHT)
    assert checks(sitting.wait(600)) == []
    assert sitting.session.ending is Ending.PASSED
    assert sitting.session.used == 100


def test_going_back_to_what_was_right_counts_as_that() -> None:
    sitting = Sitting().start()
    sitting.wait(100)
    sitting.check(RIGHT)
    sitting.wait(100)
    sitting.check(WRONG, Outcome.WRONG)
    sitting.meet(Saved(RIGHT))
    sitting.press("s")
    assert sitting.session.ending is Ending.PASSED
    assert sitting.session.used == 100


def test_breaking_it_before_the_bell_is_not_passed() -> None:
    sitting = Sitting().start()
    sitting.check(RIGHT)
    sitting.check(WRONG, Outcome.WRONG)
    sitting.wait(600)
    sitting.meet(Checked(WRONG, result(Outcome.WRONG), 0.1))
    assert sitting.session.ending is Ending.TIMED_OUT


def test_the_bell_takes_back_a_question_that_waits() -> None:
    sitting = Sitting().start()
    sitting.press("g")
    sitting.wait(600)
    assert sitting.session.asked is None
    assert sitting.session.phase is Phase.JUDGING
    sitting.press("y")
    assert sitting.session.ending is None


def test_a_file_that_never_could_be_read_ends_without_a_check() -> None:
    sitting = Sitting()
    sitting.press("enter")
    assert checks(sitting.wait(600)) == []
    assert sitting.session.ending is Ending.TIMED_OUT


def test_giving_up_asks_and_ends() -> None:
    sitting = Sitting().start()
    sitting.press("g", "n")
    assert not sitting.session.done
    sitting.press("g", "y")
    assert sitting.session.ending is Ending.GAVE_UP
    assert exit_code(sitting.session) == 1


def test_what_the_machine_lacks_leaves_the_attempt_open() -> None:
    sitting = Sitting().start()
    sitting.meet(Saved(RIGHT))
    sitting.press("s", "y")
    sitting.meet(Checked(RIGHT, Result(error=EnvironmentFault("no compiler")), 0.1))
    assert sitting.session.phase is Phase.LEFT
    assert sitting.session.ending is None
    assert exit_code(sitting.session) == 5


def test_x_leaves_for_another_time() -> None:
    sitting = Sitting().start()
    sitting.wait(12)
    assert sitting.press("x") == [Keep()]
    assert sitting.session.phase is Phase.LEFT
    assert exit_code(sitting.session) == 1


@pytest.mark.parametrize("phase", ["ready", "running", "judging"])
def test_a_signal_leaves_from_anywhere(phase: str) -> None:
    sitting = Sitting()
    if phase != "ready":
        sitting.start()
    if phase == "judging":
        sitting.press("s", "y")
    caused = sitting.meet(Interrupted(130))
    assert caused == ([] if phase == "ready" else [Keep()])
    assert sitting.session.ending is None
    assert exit_code(sitting.session) == 130


def test_nothing_happens_after_the_end() -> None:
    sitting = Sitting().start()
    sitting.press("g", "y")
    before = sitting.session.used
    assert sitting.meet(Saved(RIGHT), Key("s"), Tick(), Interrupted(130), Resumed()) == []
    sitting.wait(50)
    assert (sitting.session.ending, sitting.session.used) == (Ending.GAVE_UP, before)


def test_time_while_suspended_does_not_count() -> None:
    sitting = Sitting().start()
    sitting.wait(10)
    assert sitting.meet(Suspended()) == [Keep()]
    sitting.now += 3600
    sitting.meet(Resumed())
    sitting.wait(10)
    assert sitting.session.used == 20


def test_resuming_does_not_start_a_clock_that_stood() -> None:
    sitting = Sitting()
    sitting.meet(Suspended(), Resumed())
    sitting.wait(10)
    assert sitting.session.used == 0


def test_a_gap_that_no_live_session_leaves_does_not_count() -> None:
    sitting = Sitting().start()
    sitting.now += 3600  # stopped, or the laptop slept
    sitting.meet(Tick())
    assert sitting.session.used == LONGEST_GAP


def test_a_resumed_attempt_goes_on_where_it_was() -> None:
    sitting = Sitting(used=540, hints=2).start()
    sitting.wait(30)
    assert sitting.session.left == 30
    sitting.press("h")
    assert sitting.session.hints == 2  # the one that was seen last, again
    sitting.press("h")
    assert sitting.session.hints == 3


def test_an_attempt_resumed_after_its_time_is_graded_at_once() -> None:
    sitting = Sitting(used=600)
    assert sitting.press("enter") == [Begin()]
    assert checks(sitting.meet(Opened(RIGHT))) == [RIGHT]
    assert sitting.session.phase is Phase.JUDGING
    sitting.meet(Checked(RIGHT, result(), 0.1))
    assert sitting.session.ending is Ending.PASSED
    assert sitting.session.used >= 600


def test_what_an_earlier_session_left_is_checked_at_once_but_not_in_an_interview() -> None:
    assert checks(Sitting(used=10).start().actions) == [SKELETON]
    assert checks(Sitting(used=10, interview=True).start().actions) == []


def test_progress_is_written_every_few_seconds_and_with_every_event() -> None:
    sitting = Sitting().start()
    assert sitting.wait(4 * KEEP_EVERY).count(Keep()) == 4
    assert Keep() in sitting.meet(Saved(WRONG))
    assert Keep() in sitting.meet(Checked(WRONG, result(Outcome.WRONG), 0.1))
    assert Keep() in sitting.press("h")


def test_hints_come_one_by_one_and_are_counted_once() -> None:
    sitting = Sitting().start()
    sitting.press("h")
    assert (sitting.session.hints, sitting.session.panel) == (1, Panel.HINT)
    sitting.press("escape")
    assert sitting.session.panel is Panel.RESULT
    sitting.press("h")
    assert sitting.session.hints == 1
    sitting.press("h", "h", "h", "h")
    assert sitting.session.hints == 3


def test_hints_asked_for_elsewhere_count() -> None:
    sitting = Sitting().start()
    sitting.meet(SeenElsewhere(2))
    assert sitting.session.hints == 2
    sitting.meet(SeenElsewhere(1))
    assert sitting.session.hints == 2


def test_an_attempt_ended_elsewhere_is_over_here() -> None:
    sitting = Sitting().start()
    sitting.meet(SeenElsewhere(0, Ending.GAVE_UP))
    assert sitting.session.ending is Ending.GAVE_UP


def test_the_question_comes_and_goes_and_a_new_result_is_shown() -> None:
    sitting = Sitting().start()
    sitting.press("q", "down", " ")
    assert (sitting.session.panel, sitting.session.scroll) == (Panel.QUESTION, 11)
    sitting.press("q")
    assert (sitting.session.panel, sitting.session.scroll) == (Panel.RESULT, 0)
    sitting.press("q")
    sitting.check(RIGHT)
    assert sitting.session.panel is Panel.RESULT


def test_the_editor_can_be_opened_again_and_its_trouble_is_said() -> None:
    sitting = Sitting().start()
    assert sitting.press("e") == [Edit()]
    sitting.meet(EditorReturned("vim ended with exit code 1"))
    assert "vim" in sitting.session.notice
    sitting.meet(EditorReturned())
    assert sitting.session.notice == ""


def test_what_is_wrong_with_the_file_is_said_while_it_is() -> None:
    sitting = Sitting().start()
    sitting.meet(Noticed("add.cu can't be read"))
    assert sitting.session.notice == "add.cu can't be read"
    sitting.meet(Noticed(""))
    assert sitting.session.notice == ""


def timed(snapshot: Snapshot) -> list[Event]:
    """A check that finds it right, and what its prediction adds."""
    first = dataclasses.replace(result(), complete=False)
    return [Checked(snapshot, first, 0.1), Graded(snapshot, result())]


def test_a_right_answer_waits_for_its_time_before_it_is_handed_in() -> None:
    sitting = Sitting().start()
    first, graded = timed(RIGHT)
    sitting.meet(Saved(RIGHT), first)
    assert sitting.session.grading == RIGHT
    sitting.press("s")
    assert sitting.session.phase is Phase.JUDGING
    sitting.meet(graded)
    assert sitting.session.ending is Ending.PASSED
    assert sitting.session.last is not None
    assert sitting.session.last.result.complete


def test_what_is_wrong_at_the_size_that_it_is_timed_at_does_not_pass() -> None:
    sitting = Sitting().start()
    first, _ = timed(RIGHT)
    sitting.meet(Saved(RIGHT), first, Graded(RIGHT, result(Outcome.FAULT)))
    assert not sitting.session.known_right
    sitting.press("s")
    assert sitting.session.asked is Asked.SUBMIT
    again = Sitting().start()
    again.meet(Saved(RIGHT), first)
    again.press("s")
    again.meet(Graded(RIGHT, result(Outcome.FAULT)))
    assert again.session.ending is Ending.FAILED


def test_an_interview_ends_with_the_time_known() -> None:
    sitting = Sitting(interview=True).start()
    first, graded = timed(RIGHT)
    sitting.meet(Saved(RIGHT))
    sitting.press("s", "y")
    sitting.meet(first)
    assert not sitting.session.done
    sitting.meet(graded)
    assert sitting.session.ending is Ending.PASSED


def test_a_save_during_a_prediction_is_checked_at_once_and_the_prediction_is_forgotten() -> None:
    sitting = Sitting().start()
    first, graded = timed(RIGHT)
    sitting.meet(Saved(RIGHT), first)
    assert checks(sitting.meet(Saved(OTHER))) == [OTHER]
    sitting.meet(graded)
    assert sitting.session.last is not None
    assert not sitting.session.last.result.complete


def test_going_back_to_what_was_right_but_never_timed_is_checked_again() -> None:
    sitting = Sitting().start()
    first, graded = timed(RIGHT)
    sitting.meet(Saved(RIGHT), first, Saved(WRONG), Checked(WRONG, result(Outcome.WRONG), 0.1))
    assert checks(sitting.meet(Saved(RIGHT))) == [RIGHT]
    sitting.press("s")
    sitting.meet(first)
    assert sitting.session.phase is Phase.JUDGING
    sitting.meet(graded)
    assert sitting.session.ending is Ending.PASSED


def test_a_watch_checks_at_once_has_no_clock_and_ends_as_the_last_check() -> None:
    sitting = Sitting(minutes=None)
    assert checks(sitting.meet(Opened(WRONG))) == [WRONG]
    sitting.meet(Checked(WRONG, result(Outcome.FAULT), 0.1))
    sitting.press("s", "g")
    sitting.wait(5000)
    assert not sitting.session.done
    sitting.meet(Interrupted(130))
    assert exit_code(sitting.session) == 4


def test_rules_that_make_no_sense_are_refused() -> None:
    with pytest.raises(ValueError, match="minutes"):
        Rules(3, 0)
    with pytest.raises(ValueError, match="interview"):
        Rules(3, None, interview=True)
    with pytest.raises(ValueError, match="verdict or"):
        Result()


EVENTS = st.one_of(
    st.sampled_from([Tick(), Saved(RIGHT), Saved(WRONG), Suspended(), Resumed(), CaseDone(CASE, 20), EditorReturned()]),
    st.sampled_from("hqesgyn").map(Key),
)


@given(st.lists(st.tuples(EVENTS, st.floats(0, 20)), max_size=60), st.booleans())
def test_whatever_happens_the_clock_and_the_checks_stay_sane(
    happenings: list[tuple[Event, float]], interview: bool
) -> None:
    sitting = Sitting(interview=interview).start()
    waiting: list[Snapshot] = []
    for event, seconds in happenings:
        before = sitting.session.clock.used
        sitting.now += seconds
        waiting += checks(sitting.meet(event))
        assert 0 <= sitting.session.clock.used - before <= min(seconds, LONGEST_GAP) + 1e-6
        assert len(waiting) <= 1
        assert (sitting.session.checking is not None) == bool(waiting)
        if waiting and seconds > 10:
            done = waiting.pop()
            outcome = Outcome.RIGHT if done == RIGHT else Outcome.WRONG
            waiting += checks(sitting.meet(Checked(done, result(outcome), 0.1)))
        assert sitting.session.used <= sitting.session.clock.used
    while waiting:
        done = waiting.pop()
        waiting += checks(sitting.meet(Checked(done, result(Outcome.RIGHT if done == RIGHT else Outcome.WRONG), 0.1)))
    if sitting.session.ending is Ending.PASSED:
        assert sitting.session.current == RIGHT

"""A Hypothesis state machine: requests in any order, against a dictionary that says what each must answer."""

from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from wakeful.service.engine import Engine
from wakeful.service.folding import fold
from wakeful.service.messages import Changes, Feedback, NewBandit, NewDecision
from wakeful.service.refusals import Refused
from wakeful.service.requests import AddArm, Configure, Create, Decide, Report, RetireArm
from wakeful.service.stores import open_store

ARMS = ["a", "b", "c"]
LOSSES = st.sampled_from([0.0, 0.25, 1.0])
NAMES = st.sampled_from([*ARMS, "d", "e"])

NewStore = Callable[[], AbstractContextManager[str]]  # makes a store, which is removed when it is left


class Service(RuleBasedStateMachine):
    """One bandit, whose clock is set by hand."""

    ids: Bundle[str] = Bundle("ids")
    new_store: NewStore

    @initialize(wait=st.sampled_from([None, 5.0]))
    def start(self, wait: float | None) -> None:
        self.stack = ExitStack()
        self.url, self.now, self.wait = self.stack.enter_context(self.new_store()), 1000.0, wait
        self.engine = Engine(open_store(self.url), clock=lambda: self.now, snapshot=7)
        self.ask(Create("bandit", NewBandit(arms=ARMS, policy="SIExp3", seed=1, wait=wait, default_loss=0.5)))
        self.arms = dict.fromkeys(ARMS, True)  # whether each is awake
        self.made: dict[str, tuple[Any, float | None]] = {}  # answer and deadline by id
        self.ended: dict[str, float | None] = {}  # feedback by id; None: expired
        self.late: set[str] = set()

    def ask(self, request: Any) -> Any:
        return self.engine.run([request])[0]

    @rule(target=ids, own=st.none() | st.sampled_from(["x", "y", "z"]), awake=st.none() | st.sets(NAMES, min_size=1))
    def decide(self, own: str | None, awake: set[str] | None) -> Any:
        names = None if awake is None else sorted(awake)
        answer = self.ask(Decide("bandit", NewDecision(awake=names, id=own)))
        if own in self.made:
            first, allowed = self.made[own][0], self.sets[own]
            if awake is None or awake == allowed:
                assert answer == (first, False)
            else:
                assert answer.status == 409
            return own
        possible = {name for name, is_awake in self.arms.items() if is_awake}
        if (awake is not None and not awake <= possible) or not possible:
            assert isinstance(answer, Refused)
            assert answer.status == 422
            return "nothing"
        made, new = answer
        assert new
        assert made.arm in (possible if awake is None else awake)
        assert made.id not in self.made
        self.made[made.id] = made, None if self.wait is None else self.now + self.wait
        self.sets[made.id] = possible if awake is None else awake
        return made.id

    @property
    def sets(self) -> dict[str, set[str]]:
        return self.__dict__.setdefault("_sets", {})  # type: ignore[no-any-return]

    @rule(id=ids, loss=LOSSES, times=st.integers(1, 3))
    def report(self, id: str, loss: float, times: int) -> None:
        for answer in self.engine.run([Report("bandit", id, Feedback(loss=loss))] * times):
            self.check(id, loss, answer)

    def check(self, id: str, loss: float, answer: Any) -> None:
        if id not in self.made:
            assert answer.status == 404
        elif id in self.ended and self.ended[id] is not None:
            assert answer.status == ("known" if self.ended[id] == loss else 409)
        elif id not in self.ended and (self.wait is None or self.now <= (self.made[id][1] or 0.0)):
            assert answer.status == "counted"
            self.ended[id] = loss
        else:
            assert answer.status == "late"
            self.ended[id] = None
            self.late.add(id)

    @rule(seconds=st.sampled_from([-3600.0, 1.0, 4.0, 6.0]))
    def time_goes_on(self, seconds: float) -> None:
        if self.wait is None or seconds > 0:  # how a wait ends after a jump back is another test's business
            self.now += seconds

    @rule()
    def sweep(self) -> None:
        self.engine.sweep()
        for id, (_, deadline) in self.made.items():
            if id not in self.ended and deadline is not None and deadline < self.now:
                self.ended[id] = None

    @rule(name=NAMES)
    def add(self, name: str) -> None:
        changed = self.ask(AddArm("bandit", name))[1]
        assert changed == (not self.arms.get(name, False))
        self.arms[name] = True

    @rule(name=NAMES)
    def retire(self, name: str) -> None:
        answer = self.ask(RetireArm("bandit", name))
        last = [other for other, is_awake in self.arms.items() if is_awake] == [name]
        assert isinstance(answer, Refused) == (name not in self.arms or last)
        if name in self.arms and not last:
            self.arms[name] = False

    @rule(loss=LOSSES)
    def configure(self, loss: float) -> None:
        assert self.ask(Configure("bandit", Changes(default_loss=loss))).default_loss == loss

    @rule()
    def restart(self) -> None:
        before = self.engine.ledgers["bandit"].to_bytes()
        self.engine.close()
        self.engine = Engine(open_store(self.url), clock=lambda: self.now, snapshot=7)
        assert self.engine.ledgers["bandit"].to_bytes() == before

    @invariant()
    def counts_are_those_of_the_dictionary(self) -> None:
        if not hasattr(self, "engine"):
            return
        ledger = self.engine.ledgers["bandit"]
        expired = sum(value is None for value in self.ended.values())
        assert (ledger.decisions, ledger.feedback) == (len(self.made), len(self.ended) - expired)
        assert (ledger.expired, ledger.late) == (expired, len(self.late))

    def teardown(self) -> None:
        if hasattr(self, "engine"):
            with self.engine.store.transaction(writes=False):
                (row,) = self.engine.store.rows()
                assert fold(None, self.engine.store, row).to_bytes() == self.engine.ledgers["bandit"].to_bytes()
            self.engine.close()
            self.stack.close()


def run_machine(new_store: NewStore, examples: int, steps: int, *, same_each_time: bool) -> None:
    """Try so many sequences of requests, each in a store of its own; the same ones in each run, or others."""
    machine: Any = type("ServiceHere", (Service,), {"new_store": staticmethod(new_store)})
    options = settings(
        max_examples=examples,
        stateful_step_count=steps,
        derandomize=same_each_time,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    run_state_machine_as_test(machine, settings=options)

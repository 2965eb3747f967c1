"""All policies of the package, each with its parameters worth a check and its literal version."""

from collections.abc import Callable
from typing import Any, NamedTuple

from reference import auto
from reference import policies as literal
from wakeful import (
    Auto,
    FixedOrdering,
    OrderingExp4,
    PerSet,
    Policy,
    SBExp3,
    SIExp3,
    SleepingExp3,
    SleepingExp3G,
    SleepingThompson,
    SleepingUCB,
    Uniform,
)


class Case(NamedTuple):
    """A policy and a function that makes its literal version for K arms."""

    policy: Policy
    literal: Callable[[int], Any]


CASES = (
    Case(Auto(), auto.Auto),
    Case(Auto(max_sets=3), lambda K: auto.Auto(K, 3)),
    Case(Auto(max_sets=8, guard=0.25), lambda K: auto.Auto(K, 8, 0.25)),
    Case(SIExp3(), lambda K: literal.SIExp3(K, "anytime", 0.0625)),
    Case(SIExp3(eta=0.2, exploration=0.0), lambda K: literal.SIExp3(K, 0.2)),
    Case(SIExp3(eta="sqrt", exploration=0.0), lambda K: literal.SIExp3(K, "sqrt")),
    Case(SIExp3(eta="horizon", horizon=300), lambda K: literal.SIExp3(K, "horizon", 0.0625, 300)),
    Case(SIExp3(eta="paper", exploration=0.0), lambda K: literal.SIExp3(K, "paper")),
    Case(SIExp3(eta="doubling", exploration=0.5), lambda K: literal.SIExp3(K, "doubling", 0.5)),
    Case(SBExp3(), lambda K: literal.SBExp3(K, "anytime")),
    Case(SBExp3(eta=0.1, exploration=0.5), lambda K: literal.SBExp3(K, 0.1, 0.5)),
    Case(SBExp3(eta="sqrt"), lambda K: literal.SBExp3(K, "sqrt")),
    Case(SleepingExp3G(), literal.SleepingExp3G),
    Case(SleepingExp3G(eta=0.1, exploration=0.5, max_sets=64), lambda K: literal.SleepingExp3G(K, 0.1, 0.5)),
    Case(SleepingExp3(), literal.SleepingExp3),
    Case(SleepingExp3(eta=0.3, exploration=0.1), lambda K: literal.SleepingExp3(K, 0.3, 0.1)),
    Case(SleepingUCB(), literal.SleepingUCB),
    Case(SleepingUCB(constant=0.5), lambda K: literal.SleepingUCB(K, 0.5)),
    Case(SleepingThompson(), literal.SleepingThompson),
    Case(PerSet(SleepingUCB(constant=2.0)), lambda K: literal.PerSet(lambda: literal.SleepingUCB(K, 2.0), 256)),
    Case(
        PerSet(SIExp3(eta="sqrt"), max_sets=5),
        lambda K: literal.PerSet(lambda: literal.SIExp3(K, "sqrt", 0.0625), 5),
    ),
    Case(PerSet(PerSet(Uniform()), max_sets=3), lambda K: literal.Uniform()),
    Case(OrderingExp4(), literal.OrderingExp4),
    Case(OrderingExp4(scale=2.0), lambda K: literal.OrderingExp4(K, 2.0)),
    Case(FixedOrdering((2, 0)), lambda K: literal.FixedOrdering((2, 0, *(k for k in range(K) if k not in (0, 2))))),
    Case(Uniform(), lambda K: literal.Uniform()),
)

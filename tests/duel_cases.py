"""All dueling policies of the package, each with its parameters worth a check and its literal version."""

from collections.abc import Callable
from typing import Any, NamedTuple

from reference import auto_pairs, stable_pair
from reference import duel_policies as literal
from reference import policies as bandits
from wakeful import PerSet, SIExp3, SleepingThompson, SleepingUCB
from wakeful.duels.auto_pairs import AutoPairs
from wakeful.duels.double_thompson import DoubleThompson
from wakeful.duels.policy import DuelingPolicy
from wakeful.duels.relative_med import RelativeMED
from wakeful.duels.relative_ucb import RelativeUCB
from wakeful.duels.sparring import Sparring
from wakeful.duels.stable_pair import StablePair
from wakeful.duels.uniform_pairs import UniformPairs


class DuelCase(NamedTuple):
    """A dueling policy and a function that makes its literal version for K arms, M of them in a round."""

    policy: DuelingPolicy
    literal: Callable[[int, int], Any]
    rounds: int = 120  # to compare: fewer where the literal version is slow


def sparring(make: Callable[[int], Any]) -> Callable[[int, int], Any]:
    """Return what makes literal sparring between literal bandit policies."""
    return lambda K, M: literal.Sparring(make, K, M)


CASES = (
    DuelCase(Sparring(), sparring(lambda K: bandits.SIExp3(K, "anytime", 0.0625)), 40),
    DuelCase(Sparring(SIExp3(eta="sqrt", exploration=0.0)), sparring(lambda K: bandits.SIExp3(K, "sqrt")), 40),
    DuelCase(Sparring(SleepingUCB()), sparring(bandits.SleepingUCB)),
    DuelCase(Sparring(SleepingThompson()), sparring(bandits.SleepingThompson), 15),
    DuelCase(
        Sparring(PerSet(SleepingUCB(constant=2.0), max_sets=3)),
        sparring(lambda K: bandits.PerSet(lambda: bandits.SleepingUCB(K, 2.0), 3)),
    ),
    DuelCase(RelativeUCB(), lambda K, M: literal.RelativeUCB(K)),
    DuelCase(RelativeUCB(constant=0.1), lambda K, M: literal.RelativeUCB(K, 0.1)),
    DuelCase(RelativeMED(), lambda K, M: literal.RelativeMED(K)),
    DuelCase(RelativeMED(slack=0.0), lambda K, M: literal.RelativeMED(K, 0.0)),
    DuelCase(DoubleThompson(), lambda K, M: literal.DoubleThompson(K)),
    DuelCase(DoubleThompson(constant=0.1), lambda K, M: literal.DoubleThompson(K, 0.1)),
    DuelCase(StablePair(), lambda K, M: stable_pair.StablePair(K)),
    DuelCase(AutoPairs(), lambda K, M: auto_pairs.AutoPairs(K)),
    DuelCase(UniformPairs(), lambda K, M: literal.UniformPairs(K)),
)

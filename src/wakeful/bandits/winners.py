"""Who won a duel: what callers of `DuelingBandit.update` say about it, turned into shares of the win."""

from typing import Any

import numpy as np

from wakeful.bandits.arms import BOOLEANS
from wakeful.bandits.duel_counts import checked_group
from wakeful.duels.duel import Duel
from wakeful.inputs import did_you_mean, must_be, real
from wakeful.policies.kernels import NO_MEMO, NOT_DRAWN
from wakeful.policies.policy import LAW


def given_duel(duel: Any) -> Duel:
    """Return a duel, also of the dictionary that its `to_dict` returned."""
    return Duel.from_dict(duel) if isinstance(duel, dict) else duel


def check_parts(duel: Any) -> None:
    """Raise an error if this is not a complete `Duel`."""
    if type(duel) is not Duel:
        raise TypeError(must_be("duel", "a Duel from choose, or its to_dict()", duel))
    arms, probabilities, allowed, _, _, memos, _, shown, group = duel
    if any(type(part) is not tuple for part in (arms, probabilities, allowed, memos, shown)):
        raise TypeError(must_be("duel", "one whose parts are tuples", duel))
    if not len(arms) == len(probabilities) == len(allowed) == len(memos) or len(arms) < 2:
        raise ValueError(must_be("duel", "of two or more arms, with as many entries in each field", duel))
    if shown and (any(type(place) is not int for place in shown) or sorted(shown) != list(range(len(arms)))):
        raise ValueError(must_be("duel.shown", f"the places 0 to {len(arms) - 1}, each once, or none", shown))
    if group is not None:
        checked_group(group)


def shares_of(duel: Any, winner: Any) -> list[float]:
    """Return each arm's share of the win, in the order of `duel.arms`, if the duel has all its parts."""
    check_parts(duel)
    arms = duel.arms
    two = len(arms) == 2
    first, second = ("right", "left") if duel.shown == (1, 0) else ("left", "right")  # the sides of the two arms
    if two and isinstance(winner, float | np.floating) and not any(isinstance(arm, float) for arm in arms):
        share = real("winner", winner, "a share between 0 and 1", 0.0, 1.0)
        return [share, 1.0 - share] if first == "left" else [1.0 - share, share]
    won = [type(winner) not in BOOLEANS and _same(arm, winner) for arm in arms]
    if two and not any(won) and isinstance(winner, str):
        won = [winner in {first, "tie"}, winner in {second, "tie"}]
    if not any(won):
        names = list(dict.fromkeys([*arms, *(("left", "right", "tie") if two else ())]))
        rule = f"one of {', '.join(map(repr, names))}" + (", or a share between 0 and 1" if two else "")
        raise ValueError(must_be("winner", rule, winner) + did_you_mean(winner, names))
    return [1.0 / sum(won) if here else 0.0 for here in won]  # a tie is shared, also by an arm that met itself


def refusal(duel: Duel, answer: int) -> str:
    """Return the sentence for what compiled code answered to a duel that it refused."""
    if answer == NOT_DRAWN:
        return must_be("duel.probabilities", "those of arms that can be drawn from duel.laws", duel.probabilities)
    if answer == NO_MEMO:
        return must_be("duel.memos", "zero or positive, and finite", duel.memos)
    return must_be("duel.laws", LAW, duel.laws)


def _same(arm: Any, winner: Any) -> bool:
    """Whether `winner` is the name of `arm`; values that cannot be compared are not."""
    try:
        return bool(arm == winner)
    except (TypeError, ValueError):
        return False

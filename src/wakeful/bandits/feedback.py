"""Feedback of one decision: what callers of `Bandit.update` may give, and the errors for what they may not."""

import math
from typing import Any

import numpy as np

from wakeful.inputs import must_be, real
from wakeful.numerics.arrays import Floats, Mask
from wakeful.policies.decision import Decision
from wakeful.policies.kernels import FINE, FLOOR, NO_MEMO, NOT_A_LAW, NOT_DRAWN
from wakeful.policies.policy import LAW, is_law

FLOAT64 = np.dtype(np.float64)
LOSS_TYPES = frozenset({float, int, bool, np.float64, np.float32, np.int64, np.bool_})  # what most losses are


def given_decision(decision: Any) -> Decision:
    """Return a decision, also of the dictionary that its `to_dict` returned."""
    return Decision.from_dict(decision) if isinstance(decision, dict) else decision


def is_vector(p: Floats, mask: Mask) -> bool:
    """Whether `p` still has the type, shape and order in memory that compiled code needs beside `mask`."""
    return p.dtype is FLOAT64 and p.shape == mask.shape and p.flags.c_contiguous


def in_positions(decision: Decision, position: int, mask: Mask) -> tuple[Decision, int]:
    """Return a decision in terms of positions, as policies without kernels get it, and what is wrong with it."""
    p = np.zeros(mask.size)
    p[: decision.probabilities.size] = decision.probabilities
    answer = FINE
    if not is_law(p, mask):
        answer = NOT_A_LAW
    elif p[position] != decision.probability or p[position] < FLOOR:
        answer = NOT_DRAWN
    elif not 0.0 <= decision.memo < math.inf:
        answer = NO_MEMO
    here = tuple(np.flatnonzero(mask).tolist())
    return decision._replace(arm=position, awake=here, probabilities=p), answer


def loss_of(loss: float | None, reward: float | None) -> float:
    """Return the loss that exactly one of `loss` and `reward` gives."""
    if (loss is None) == (reward is None):
        raise ValueError(must_be("feedback", "exactly one of loss and reward", {"loss": loss, "reward": reward}))
    if reward is not None:
        return 1.0 - _share("reward", reward)
    return _share("loss", loss)


def _share(name: str, value: Any) -> float:
    """Return a number in [0, 1]; True and False count as 1 and 0."""
    if type(value) in LOSS_TYPES and 0.0 <= value <= 1.0:
        return float(value)
    return real(
        name, float(value) if isinstance(value, bool | np.bool_) else value, "a number between 0 and 1", 0.0, 1.0
    )


def refusal(decision: Decision, answer: int) -> str:
    """Return the sentence for what `update` answered."""
    if answer == NOT_DRAWN:
        rule = "that of an arm which its probabilities can have drawn"
        return must_be("decision.probability", rule, decision.probability)
    if answer == NO_MEMO:
        return must_be("decision.memo", "zero or positive, and finite", decision.memo)
    return must_be("decision.probabilities", LAW, decision.probabilities)

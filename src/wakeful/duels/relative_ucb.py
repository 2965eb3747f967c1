"""Relative UCB: the arm that may beat all others, against its most dangerous opponent."""

from dataclasses import dataclass
from typing import Any

from wakeful.duels.kernels import DuelKernels
from wakeful.duels.policy import DuelingPolicy
from wakeful.duels.win_counts import KeepsWins, PairState, pair_learn, pair_remember, plausible_share, share_best, upper
from wakeful.numerics.arrays import Floats, Ints, Mask
from wakeful.numerics.compile import kernel
from wakeful.numerics.exponentials import log
from wakeful.policies.learning_rates import checked_factor
from wakeful.policies.spec import set_frozen


@dataclass(frozen=True)
class RelativeUCB(KeepsWins, DuelingPolicy):
    """RUCB (Zoghi, Whiteson, Munos, de Rijke 2014), restricted to the pairs that may be played.

    With `U_ij = wins_ij / n_ij + sqrt(constant log t / n_ij)`, infinite for pairs that never met, `U_ii = 1/2`:
    the champion c is any arm with `U_cj >= 1/2` against every allowed rival j, any awake arm if there is none; its
    challenger is the allowed partner with the largest `U_jc`. Ties have equal probabilities. So c meets itself if that
    is allowed and no arm can plausibly beat it. RUCB keeps its champion between rounds (its set B); this policy does
    not, because that would depend on the order of past rounds, and a state must be a sum.

    This is not SlDB-UCB (Saha, Gaillard 2021) and does not inherit its bound. Where the pairs are not all those of
    a set, two arms that never meet can both be unbeaten, and its regret can be linear: `StablePair` is for that.

    Parameters:
        constant: the constant under the root, alpha in the paper, whose bound needs more than 1/2

    >>> RelativeUCB().start(n_arms=3).wins.shape
    (3, 3)
    """

    constant: float = 0.51

    def __post_init__(self) -> None:
        """Refuse parameters that make no sense."""
        set_frozen(
            self,
            constant=checked_factor("constant", self.constant),
        )

    @property
    def kernels(self) -> DuelKernels:
        """The compiled functions of this policy."""
        return DuelKernels(_ucb_law, pair_learn, pair_remember)


@kernel
def _ucb_law(parameters: Any, state: PairState, pairs: Mask, awake: Ints, chosen: Ints, coin: float, p: Floats) -> None:
    """Give equal probability to the unbeaten arms, then to the strongest plausible challengers of the champion."""
    spread = parameters.constant * log(state.clock[0] + 1.0)
    for k in awake:
        if chosen.size == 0:
            p[k] = int(plausible_share(state.wins, pairs, k, spread) == 1.0)
        else:
            p[k] = upper(state.wins, k, chosen[0], spread)
    share_best(awake, p)

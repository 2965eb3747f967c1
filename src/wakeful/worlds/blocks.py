"""The rules for a block of rounds, which `simulate` and `check_world` check.

Nearly every block is valid, so a compiled check comes first; only if it fails, the reason is looked for.
"""

from typing import Any

import numpy as np

from wakeful.duels.pairs import SUM_ERROR, checked_pairs, checked_preferences, checked_size
from wakeful.inputs import must_be, numbers, truths
from wakeful.numerics.arrays import Floats, Ints, Mask
from wakeful.numerics.compile import call_compiled
from wakeful.policies.rounds import checked_awake, checked_numbers, refuse_nobody, refuse_outside
from wakeful.worlds.duel_world import DuelBlock
from wakeful.worlds.world import Block


def checked_block(block: Any, n_arms: int, most: int | None = None) -> Block:
    """Return the first `most` rounds of a block as compiled code takes them, else say what is wrong with them."""
    if not isinstance(block, Block):
        raise TypeError(must_be("block", "a Block(awake, losses, expected)", block))
    awake = checked_awake("awake", block.awake, n_arms)
    refuse_empty(len(awake))
    losses = checked_numbers("losses", block.losses, awake)
    expected = None if block.expected is None else checked_numbers("expected", block.expected, awake)
    for name, table in (("losses", losses), ("expected", expected)):
        if table is not None and not call_compiled(_is_sound, awake[:most], table[:most]):
            refuse_nobody("awake", awake[:most])
            refuse_outside(name, table[:most], awake[:most])
    return Block(awake[:most], losses[:most], None if expected is None else expected[:most])


def checked_awake_now(awake: Any, n_arms: int) -> Mask:
    """Return which arms are awake in one round of an adaptive world, else say what is wrong with it."""
    rule = f"{n_arms} booleans, true somewhere"
    mask = truths("awake", awake, rule)
    if mask.shape != (n_arms,) or not mask.any():
        raise ValueError(must_be("awake", rule, awake))
    return mask


def checked_losses_now(losses: Any, awake: Mask) -> Floats:
    """Return the losses of one round of an adaptive world, else say what is wrong with them."""
    rule = f"{awake.size} numbers, between 0 and 1 where awake"
    values = numbers("losses", losses, rule)
    if values.shape != awake.shape or not (((values >= 0.0) & (values <= 1.0)) | ~awake).all():
        raise ValueError(must_be("losses", rule, losses))
    return values


def checked_duel_block(block: Any, n_arms: int, size: int, most: int | None = None) -> DuelBlock:
    """Return the first `most` rounds of a block as compiled code takes them, else say what is wrong with them."""
    if not isinstance(block, DuelBlock):
        raise TypeError(must_be("block", "a DuelBlock(pair_sets, which, preferences, law, coins)", block))
    coins = np.ascontiguousarray(numbers("coins", block.coins, "an array of numbers"))
    if np.ndim(block.coins) != 1:
        raise ValueError(must_be("coins", "one for each round", np.shape(block.coins)))
    refuse_empty(coins.size)
    found = DuelBlock(
        np.ascontiguousarray(truths("pair_sets", block.pair_sets, "an array of booleans")),
        _checked_rows("which", block.which, coins.size)[:most],
        np.ascontiguousarray(numbers("preferences", block.preferences, "an array of numbers")),
        _checked_rows("law", block.law, coins.size)[:most],
        coins[:most],
    )
    for name, table in (("pair_sets", found.pair_sets), ("preferences", found.preferences)):
        if table.ndim != 3 or table.shape[1:] != (n_arms, n_arms):
            raise ValueError(must_be(name, f"of shape {(len(table), n_arms, n_arms)}", table.shape))
    if not call_compiled(_is_sound_duel, *found):
        _refuse_duels(found)
    if size != 2:
        for pairs in found.pair_sets:
            checked_size(size, pairs)
    return found


def refuse_empty(rounds: int) -> None:
    """Raise if a block has no rounds."""
    if not rounds:
        raise ValueError(must_be("block", "of one or more rounds", rounds))


def _checked_rows(name: str, rows: Any, rounds: int) -> Ints:
    """Return the row of a table that belongs to each round."""
    found = np.asarray(rows)
    if found.dtype.kind not in "iu" or found.shape != (rounds,):
        raise TypeError(must_be(name, f"{rounds} whole numbers, one for each round", rows))
    return np.ascontiguousarray(found, np.int64)


def _refuse_duels(block: DuelBlock) -> None:
    """Raise with the first thing that is wrong in a block of duels."""
    for pairs in block.pair_sets:
        checked_pairs(pairs)
    for preferences in block.preferences:
        checked_preferences(preferences)
    for name, rows, table in (("which", block.which, block.pair_sets), ("law", block.law, block.preferences)):
        wrong = rows[(rows < 0) | (rows >= len(table))]
        if wrong.size:
            raise ValueError(must_be(name, f"rows from 0 to {len(table) - 1}", int(wrong[0])))
    wild = block.coins[~((block.coins >= 0.0) & (block.coins < 1.0))]
    raise ValueError(must_be("coins", "from 0 to below 1", float(wild[0])))


def _is_sound(awake: Mask, losses: Floats) -> bool:
    """Whether an arm is awake in every round, with losses between 0 and 1; no branch to mispredict."""
    nobody, wild = False, False
    for t in range(len(awake)):
        somebody = False
        for k in range(awake.shape[1]):
            somebody |= awake[t, k]
            wild |= awake[t, k] & (not (losses[t, k] >= 0.0) & (losses[t, k] <= 1.0))
        nobody |= not somebody
    return not (nobody | wild)


def _is_sound_duel(pair_sets: Mask, which: Ints, preferences: Floats, law: Ints, coins: Floats) -> bool:
    """Whether the tables hold what they should, and every round a row of each."""
    n_arms = pair_sets.shape[1]
    for s in range(len(pair_sets)):
        anybody = False
        for i in range(n_arms):
            for j in range(n_arms):
                anybody |= pair_sets[s, i, j]
                if pair_sets[s, i, j] != pair_sets[s, j, i]:
                    return False
        if not anybody:
            return False
    for s in range(len(preferences)):
        for i in range(n_arms):
            for j in range(n_arms):
                p = preferences[s, i, j]
                if not (0.0 <= p <= 1.0 and abs(p + preferences[s, j, i] - 1.0) <= SUM_ERROR):
                    return False
    fine = True
    for t in range(which.size):
        fine &= (0 <= which[t] < len(pair_sets)) and (0 <= law[t] < len(preferences)) and (0.0 <= coins[t] < 1.0)
    return fine

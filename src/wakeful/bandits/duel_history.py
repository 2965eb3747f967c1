"""`DuelHistory`, the part of `DuelingBandit` that counts results: rankings, and duels that others arranged."""

from abc import abstractmethod
from collections.abc import Hashable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from wakeful.bandits.arms import BOOLEANS, Awake
from wakeful.bandits.bradley_terry import NO_TIES, SIDED, UNSIDED
from wakeful.bandits.duel_counts import TIED, DuelCounts, Outcome, checked_group, refuse_one_sided
from wakeful.bandits.learner import Learner, copied
from wakeful.bandits.ranking import Ranking, ranking
from wakeful.duels.policy import DuelingPolicy
from wakeful.duels.spectate import Fights, fold_fights, refuse_without
from wakeful.inputs import must_be, one_of
from wakeful.limits import MAX_BYTES
from wakeful.numerics.arrays import Floats, Mask

if TYPE_CHECKING:  # what reads files is loaded when it is needed
    from wakeful.bandits.duel_results import Learned, ReadResults


class DuelHistory(Learner[DuelingPolicy]):
    """Counts who beat whom, ranks the arms by it, and learns from results that somebody else arranged."""

    max_bytes = MAX_BYTES  # what a state may grow to by what comes from outside: larger battles, results of new arms

    _size: int  # the most arms chosen at a time so far
    _wins: Floats  # (K, K)
    _results: DuelCounts

    def win_matrix(self) -> Floats:
        """Return the K x K wins so far, of the row's arm over the column's; ties count one half for each."""
        with self._lock:
            return self._wins.copy()

    @property
    def groups(self) -> tuple[Hashable, ...]:
        """The groups that duels have had so far."""
        with self._lock:
            return tuple(self._results.groups[1:])

    def ranking(
        self,
        *,
        scale: str = "log",
        level: float = 0.95,
        group: Hashable | None = None,
        arms: Iterable[Hashable] | None = None,
        min_duels: float | None = None,
    ) -> Ranking:
        """Return the arms by strength, with intervals; it prints as a table, and has `to_html` and more.

        Strengths are those of the Bradley-Terry model, with ties by Davidson's model where there are any, and with the
        effect of the side where sides are known. `docs/arena.md` says more.

        Parameters:
            scale: `"log"`, the logarithm of odds; `"elo"`, 400 points for odds of ten to one and a mean of 1500; or
                `"probability"`, to beat an arm of mean strength
            level: of the intervals of strengths and ranks
            group: rank by the duels of this group alone
            arms: the names of those to show and rank, if not all
            min_duels: show and rank only arms that played so many duels; by default all arms, of a group those that
                have played in it
        """
        with self._lock:
            results = self._results.overall() if group is None else self._results.of_group(group)
            names, gone = list(self._arms.names), self._arms.retired.copy()
        least = float(group is not None) if min_duels is None else min_duels
        retired = [name for name, is_gone in zip(names, gone.tolist(), strict=True) if is_gone]
        return ranking(names, results, scale=scale, level=level, arms=arms, min_duels=least, retired=retired)

    def ranking_by_group(self, **options: Any) -> dict[Hashable, Ranking]:
        """Return one ranking for each group; the options are those of `ranking`."""
        return {group: self.ranking(group=group, **options) for group in self.groups}

    def record(
        self,
        left: Hashable,
        right: Hashable,
        winner: Any,
        *,
        group: Hashable | None = None,
        sides: bool = True,
        probability: float | None = None,
        awake: Awake = None,
    ) -> None:
        """Learn from one duel that this bandit did not arrange.

        Parameters:
            left, right: the names of the two arms
            winner: the name of an arm, `"left"`, `"right"`, `"tie"`, or the left arm's share of the win as a float
            group: what the duel belongs to, for rankings by group: a string or a whole number
            sides: whether left and right are sides that might matter; False if the order of the names says nothing
            probability: with which this pair was chosen, this arm on the left; policies that count wins need none
            awake: the arms that could have been chosen; nothing: all of them
        """
        from wakeful.bandits.duel_results import read_one

        known = None if awake is None else list(self._arms.known(list(awake), "awake")[0])
        kind, named = _kind(sides), checked_group(group)
        refuse_without(self._policy, probability is not None)
        with self._lock:
            self._take(read_one(self._arms.names, left, right, winner, named, probability, known), kind)

    def learn(
        self,
        results: Any,
        *,
        sides: bool = True,
        unknown_arms: str = "refuse",
        on_error: str = "raise",
        columns: Mapping[str, str | None] | None = None,
    ) -> "Learned":
        """Learn from the results of many duels that somebody else arranged, in the order in which they are given.

        Parameters:
            results: the path of a file (`.csv`, `.jsonl`, both also as `.gz`, or `.parquet`), a data frame of pandas
                or polars, an Arrow table, a mapping of columns, or rows as tuples (left, right, winner) or mappings;
                columns left, right, winner, and if there are: group, probability and awake (see `record`; names joined
                by `|`, or lists), and id: a row with an id that was there before counts once; others are ignored
            sides: whether left and right are sides that might matter; False if the order of the names says nothing
            unknown_arms: `"refuse"` rows with an arm that this bandit does not have, or `"add"` such arms
            on_error: `"raise"` at the first bad row, which changes nothing, or `"skip"` bad rows and list them
            columns: names of columns that are called otherwise, such as `{"winner": "vote"}`; None for one to be
                ignored
        """
        from wakeful.bandits.duel_results import (
            Learned,
            find_duel_columns,
            read_results,
            results_source,
        )

        adds = one_of("unknown_arms", unknown_arms, ("refuse", "add")) == "add"
        skip = one_of("on_error", on_error, ("raise", "skip")) == "skip"
        kind = _kind(sides)
        source = results_source(results)
        found = find_duel_columns(source, columns)
        refuse_without(self._policy, found.probability is not None)
        while True:
            names = list(self._arms.names)
            read = read_results(source, found, names, adds, skip)  # before the lock: it may run code of the caller's
            with self._lock:
                if names == self._arms.names:  # no other thread has added an arm meanwhile
                    self._learn(read, kind)
                    break
        added = tuple(read.added) if len(read.arms) else ()
        return Learned(len(read.arms), tuple(read.problems), added, read.duplicates)

    def _learn(self, read: "ReadResults", kind: int) -> None:
        """Learn from many results, if there is room for their arms and they have sides; the lock is held."""
        self._refuse_many_arms(len(read.added))
        if kind == SIDED:
            refuse_one_sided(read.outcomes)
        if len(read.arms):
            self._take(read, kind)

    def _refuse_many_arms(self, new: int) -> None:
        """Raise unless there is room for so many new arms."""
        n_arms = len(self._arms) + new
        needed = self._state_bytes(self._policy, n_arms)
        if new and needed > self.max_bytes:
            rule = f"of few enough arms for a state of at most {self.max_bytes:,} bytes, not {needed:,} (max_bytes, an"
            raise ValueError(
                must_be("results", f"{rule} attribute of this bandit, raises the limit)", f"{n_arms} arms")
            )

    def _take(self, read: "ReadResults", kind: int) -> None:
        """Learn from results; nothing is changed unless all of them can be learned."""
        n_arms, duels = len(self._arms) + len(read.added), len(read.arms)
        if read.added:
            state = self._policy.grow(self._state, n_arms, self._size)
        else:
            state = copied(self._state)
        chances = np.ones(duels) if read.probabilities is None else read.probabilities
        shares = read.outcomes[:, 0] + 0.5 * read.outcomes[:, 2]
        uniforms = [self._stream.draw() for _ in range(2 * duels)]
        coins = np.array(uniforms).reshape(-1, 2)
        try:
            fold_fights(self._policy, state, Fights(read.arms, shares, chances, self._awake(read), read.awake, coins))
        except BaseException:
            self._stream.put_back(*uniforms)
            raise
        wins = np.pad(self._wins, (0, len(read.added)))
        np.add.at(wins, (read.arms[:, 0], read.arms[:, 1]), shares)
        np.add.at(wins, (read.arms[:, 1], read.arms[:, 0]), 1.0 - shares)
        for name in read.added:
            self._arms.add(name)
        self._wins = wins
        self._results.add_many(read.groups, read.arms, kind, read.outcomes)
        self._rounds += duels
        if read.added:
            self._forget_masks()
        self._use(state)

    def _awake(self, read: "ReadResults") -> Mask:
        """Return the awake sets; where nothing was said, all arms but those that are retired and did not play."""
        sets = read.awake_sets.copy()
        sets[0, : len(self._arms)] = ~self._arms.retired
        sets[0, read.arms[read.awake == 0].ravel()] = True
        return sets

    def _count(self, arms: list[int], shares: list[float], left: int | None, group: Hashable) -> None:
        """Count who beat whom in a duel of this bandit; `left` is the place of the left arm, if that is known."""
        wins = self._wins
        for m, winner in enumerate(arms):
            if shares[m]:
                for n, loser in enumerate(arms):
                    if n != m:
                        wins[winner, loser] += shares[m]
                        if len(arms) > 2:
                            self._results.add(group, winner, loser, NO_TIES, Outcome(shares[m], 0.0))
        if len(arms) == 2:
            m = left or 0
            outcome = TIED if shares[0] == 0.5 else Outcome(shares[m], shares[1 - m])
            kind = UNSIDED if left is None else SIDED
            self._results.add(group, arms[m], arms[1 - m], kind, outcome)

    @abstractmethod
    def _forget_masks(self) -> None:
        """Forget what depends on the number of arms."""


def _kind(sides: Any) -> int:
    """Return the kind of results whose sides are known or not."""
    if type(sides) not in BOOLEANS:
        raise TypeError(must_be("sides", "True or False", sides))
    return SIDED if sides else UNSIDED

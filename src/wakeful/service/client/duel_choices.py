"""Methods of a dueling bandit of the service, with the names that `DuelingBandit` has."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from wakeful.bandits.duel_counts import TIED
from wakeful.bandits.duel_results import Learned, ReadResults, find_duel_columns, read_results, results_source
from wakeful.bandits.others import checked_probability
from wakeful.inputs import must_be, one_of
from wakeful.numerics.arrays import Floats
from wakeful.service.client import bandit_methods as bandits
from wakeful.service.client.attempts import Steps
from wakeful.service.client.choices import Known, Status, question_of, read_made, tell, tell_many
from wakeful.service.client.decisions import RemoteDuel, id_in
from wakeful.service.client.errors import Invalid
from wakeful.service.client.pages import RemoteRanking
from wakeful.service.client.remote import Remote, names_in
from wakeful.service.messages import DuelState
from wakeful.service.readings import RankingReading, Wins

NO_DUELS = "this bandit is not dueling: open it with bandit instead of dueling_bandit"


def choose(
    self: Remote,
    awake: Iterable[str] | None = None,
    *,
    distinct: bool = False,
    groups: Mapping[str, str] | None = None,
    within: bool = False,
    pairs: Iterable[tuple[str, str]] | None = None,
    group: str | None = None,
    id: str | None = None,
) -> Steps[RemoteDuel]:
    """Choose two arms that may meet; the parameters are those of `DuelingBandit.choose`.

    With an `id` of your own, asking again, also from another process, returns the same duel; without one the client
    makes one up, so that it can ask again by itself.
    """
    options = _options(distinct, groups, within, pairs, group)
    found = yield from self.ask("POST", ("decisions",), read_made, body=question_of(awake, id, **options))
    return duel_of(found)


def choose_many(
    self: Remote, awake_sets: Iterable[Iterable[str] | None], *, distinct: bool = False, group: str | None = None
) -> Steps[list[RemoteDuel]]:
    """Choose a duel for each awake set, with few requests; if some are refused, the error has all `results`."""
    options = _options(distinct, None, False, None, group)
    asked = [question_of(awake, **options) for awake in awake_sets]
    return (yield from bandits.run_batch(self, "decisions", asked, duel_of))


def update(self: Remote, duel: Known, *, winner: str) -> Steps[Status]:
    """Tell who won: the name of an arm, `"left"`, `"right"` or `"tie"`; the answer is that of `RemoteBandit.update`."""
    return (yield from tell(self, duel, {"winner": _winner(winner)}))


def update_many(self: Remote, duels: Sequence[Known], *, winners: Sequence[str]) -> Steps[list[Status]]:
    """Tell who won many duels, with few requests; if some are refused, the error has all `results`."""
    told = [(duel, {"winner": _winner(winner)}) for duel, winner in zip(duels, winners, strict=True)]
    return (yield from tell_many(self, told))


def ranking(self: Remote, *, scale: str = "log", level: float = 0.95, group: str | None = None) -> Steps[RemoteRanking]:
    """Return the arms by strength, with intervals; the parameters are those of `DuelingBandit.ranking`."""
    query = {"scale": scale, "level": level, **({} if group is None else {"group": group})}
    return RemoteRanking((yield from self.ask("GET", ("ranking",), bandits.decoder(RankingReading), query=query)))


def win_matrix(self: Remote) -> Steps[Floats]:
    """Return the K x K wins so far, of the row's arm over the column's; ties count one half for each."""
    found = yield from self.ask("GET", ("wins",), bandits.decoder(Wins))
    return np.array(found.wins, np.float64).reshape(len(found.arms), -1)


def duel(self: Remote, duel: Known) -> Steps[DuelState]:
    """Return all that was logged of a duel: who could meet, the probabilities, the time, what became of it."""
    return (yield from self.ask("GET", ("decisions", id_in(duel)), bandits.decoder(DuelState)))


def record(
    self: Remote,
    left: str,
    right: str,
    winner: str,
    *,
    group: str | None = None,
    probability: float | None = None,
    awake: Iterable[str] | None = None,
) -> Steps[None]:
    """Learn from one duel that the service did not arrange; the parameters are those of `DuelingBandit.record`.

    It is not asked again after a doubtful failure, because the service would take it for another duel.
    """
    duel = {"left": left, "right": right, "winner": _winner(winner), "group": group}
    about = {"probability": checked_probability(probability)}
    yield from bandits.send_records(
        self, [{**duel, **about, "awake": None if awake is None else names_in("awake", awake)}]
    )


def learn(
    self: Remote,
    results: Any,
    *,
    unknown_arms: str = "refuse",
    on_error: str = "raise",
    columns: Mapping[str, str | None] | None = None,
) -> Steps[Learned]:
    """Learn from the results of many duels that somebody else arranged; the parameters are as in `DuelingBandit.learn`.

    They are sent in parts, each of which is learned as a whole or not at all; see `record` about failures.
    """
    adds = one_of("unknown_arms", unknown_arms, ("refuse", "add")) == "add"
    skip = one_of("on_error", on_error, ("raise", "skip")) == "skip"
    source = results_source(results)
    known = yield from bandits.arms(self)
    read = read_results(source, find_duel_columns(source, columns), known, adds, skip)
    records = list(_records(read, [*known, *map(str, read.added)]))  # before anything changes
    added = (yield from bandits.ensure_arms(self, map(str, read.added))) if read.added else ()
    done = yield from bandits.send_records(self, records)
    return Learned(done, tuple(read.problems), added, read.duplicates)


def _records(read: ReadResults, names: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield results as the service takes them."""
    groups = read.groups or [None] * len(read.arms)
    chances = [None] * len(read.arms) if read.probabilities is None else read.probabilities.tolist()
    rows = zip(read.arms.tolist(), read.outcomes.tolist(), read.awake.tolist(), groups, chances, strict=True)
    for (left, right), outcome, number, group, chance in rows:
        winners = {(1.0, 0.0, 0.0): names[left], (0.0, 1.0, 0.0): names[right], tuple(TIED): "tie"}
        if tuple(outcome) not in winners:
            raise ValueError(must_be("winner", "left, right or tie for the service, no share", outcome[0]))
        awake = [names[k] for k in np.flatnonzero(read.awake_sets[number]).tolist()] if number else None
        about = {"awake": awake, "group": None if group is None else str(group), "probability": chance}
        yield {"left": names[left], "right": names[right], "winner": winners[tuple(outcome)], **about}


def duel_of(found: Any) -> RemoteDuel:
    """Return the duel that the service arranged."""
    if found.left is None or found.right is None:
        raise Invalid(NO_DUELS, "invalid")
    return RemoteDuel(found.left, found.right, found.probability, found.id)


def _options(distinct: bool, groups: Any, within: bool, pairs: Any, group: str | None) -> dict[str, Any]:
    """Return what a duel is asked for, without what is not."""
    given = {
        "distinct": distinct,
        "groups": None if groups is None else dict(groups),
        "within": within,
        "pairs": None if pairs is None else [list(pair) for pair in pairs],
        "group": group,
    }
    return {name: value for name, value in given.items() if value not in (None, False)}


def _winner(winner: Any) -> str:
    """Return who won, if it is a text."""
    if not isinstance(winner, str):
        raise TypeError(must_be("winner", "the name of an arm, 'left', 'right' or 'tie'", winner))
    return winner

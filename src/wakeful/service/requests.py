"""What can be asked of the service: one class for each kind of request; `rules` says what each of them does."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from wakeful.service.messages import Changes, Feedback, NewBandit, NewDecision, NewRecord


class Create(NamedTuple):
    """Make a bandit. Answer: its `BanditState`, and whether it is new."""

    bandit: str
    body: NewBandit


class Configure(NamedTuple):
    """Change settings. Answer: the `BanditState`."""

    bandit: str
    body: Changes


class AddArm(NamedTuple):
    """Add or revive an arm. Answer: the `BanditState`, and whether anything changed."""

    bandit: str
    arm: str


class RetireArm(NamedTuple):
    """Retire an arm. Answer: the `BanditState`."""

    bandit: str
    arm: str


class Decide(NamedTuple):
    """Choose. Answer: a `DecisionMade` or `DuelMade`, and whether it is new (not the retry of a request)."""

    bandit: str
    body: NewDecision


class Report(NamedTuple):
    """Tell how a decision went. Answer: a `FeedbackTaken`."""

    bandit: str
    decision: str
    body: Feedback


class Record(NamedTuple):
    """Learn from decisions of others, all or none. Answer: a `Recorded`."""

    bandit: str
    body: Sequence[NewRecord]


class Expire(NamedTuple):
    """Record what happens to decisions that have waited too long. Answer: how many did."""

    bandit: str


class Delete(NamedTuple):
    """Delete a bandit, if `events` is the number of its last event: whoever deletes has read all. Answer: None."""

    bandit: str
    events: int


class Look(NamedTuple):
    """Read something. Answer: what `function` returns, given the ledger of the bandit and a reader of its log."""

    bandit: str
    function: Callable[[Any, Any], Any]


class LookAll(NamedTuple):
    """Read something of all bandits. Answer: what `function` returns, given their ledgers in the order of names."""

    function: Callable[[Sequence[Any]], Any]


Request = Create | Configure | AddArm | RetireArm | Decide | Report | Record | Expire | Delete | Look | LookAll

"""`Turn`: one request being carried out on the ledger of its bandit."""

from functools import cache
from importlib.metadata import version

from wakeful.duels.duel import Duel
from wakeful.policies.decision import Decision
from wakeful.service import events
from wakeful.service.events import AnyEvent, Choice, Entry
from wakeful.service.known import Finder
from wakeful.service.ledger import Ledger
from wakeful.service.refusals import Refused


class Turn:
    """One request being carried out: it adds events to a ledger, and remembers them for the store."""

    def __init__(self, ledger: Ledger | None, finder: Finder, now: float) -> None:
        self.ledger, self.finder = ledger, finder
        self.now = now if ledger is None else max(now, ledger.time)  # a clock that jumps back stands still here
        self.added: list[Entry] = []

    def begin(self, created: events.Created) -> Ledger:
        """Add the first event of a log."""
        self.ledger = Ledger(created)
        self.add(created)
        return self.ledger

    def add(self, event: AnyEvent, choice: Choice | None = None, made: Decision | Duel | None = None) -> Entry:
        """Add an event to the ledger."""
        ledger = self.there
        item = events.entry(ledger.hash, ledger.head + 1, event)
        ledger.take(item, choice, made)
        self.added.append(item)
        return item

    @property
    def there(self) -> Ledger:
        """The ledger, which there must be."""
        if self.ledger is None:
            raise Refused("not_found", "no bandit has this name; PUT /v1/bandits/{name} makes one", "name")
        return self.ledger


def refusal_of(problem: Exception) -> Refused:
    """Return the refusal that passes a sentence of the library on, with the field that it names."""
    message = str(problem)
    field = message.partition(" must be ")[0]
    return Refused("invalid", message, field if field != message and " " not in field else None)


@cache
def versions() -> str:
    """Return what decisions depend on: the versions of the library and of what computes for it."""
    return " ".join(f"{name} {version(name)}" for name in ("wakeful", "numpy", "numba"))

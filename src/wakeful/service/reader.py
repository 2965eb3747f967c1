"""`Reader`: what `Look` is given to read the log of a bandit."""

from typing import Any

from wakeful.service.known import Finder, Known, number_of
from wakeful.service.store import Row, Store


class Reader:
    """Reads the log of one bandit, for `Look`."""

    def __init__(self, store: Store, row: Row) -> None:
        self._store, self._row = store, row

    def decision(self, decision_id: str) -> Known:
        """Return a decision by its id, or refuse."""
        number = number_of(decision_id)
        found = self._store.find(self._row, [number] if number is not None else [], [decision_id])
        return Finder(found, self._row.first).get(decision_id)

    def events(self, after: int, limit: int) -> list[tuple[int, Any]]:
        """Return events after a number."""
        return [(item.number, item.event) for item in self._store.entries(self._row, after, limit=limit)]

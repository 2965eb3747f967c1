"""Versions of the tables, and how those of an older one become those of this one.

To change the tables: raise `SCHEMA`, change `sqlite.sql` and `postgres.sql`, add to `MIGRATIONS` for each store the
statements that lead to the new version, and keep a database of the old one under `tests/data/service`. Events are never
rewritten; a body that an older version wrote is read as it is.
"""

from collections.abc import Sequence

from wakeful.inputs import must_be

SCHEMA = 1  # the version of the tables
MIGRATIONS: dict[str, dict[int, Sequence[str]]] = {"sqlite": {}, "postgresql": {}}  # by the version that they lead to


def statements(store: str, version: int, *, reads_only: bool) -> list[str]:
    """Return what brings the tables of a store from a version to this one; refuse what is newer, or cannot be written.

    >>> statements("sqlite", SCHEMA, reads_only=True)
    []
    """
    if not 1 <= version <= SCHEMA:
        rule = f"a database of Wakeful of version {SCHEMA} or before"
        raise ValueError(must_be("db", rule, f"version {version}") + ": a newer Wakeful has written it")
    if version < SCHEMA and reads_only:
        rule = f"a database of version {SCHEMA}, to be read"
        raise ValueError(must_be("db", rule, f"version {version}") + ": wakeful serve brings it up to date")
    return [step for number in range(version + 1, SCHEMA + 1) for step in MIGRATIONS[store][number]]

"""Opens a store by its URL."""

from wakeful.inputs import must_be
from wakeful.service.settings import without_password
from wakeful.service.sqlite import SqliteStore
from wakeful.service.store import Store


def open_store(url: str, *, reads_only: bool = False) -> Store:
    """Open the store of a URL: `sqlite:///file`, the path of a file, or `postgresql://...`.

    Only one process at a time can write to a file; any number may read it meanwhile.
    """
    if url.startswith(("postgresql://", "postgres://")):
        try:
            from wakeful.service.postgres import PostgresStore
        except ImportError:
            raise ImportError(
                "a PostgreSQL store needs the extra 'postgres': pip install 'wakeful[postgres]'"
            ) from None
        return PostgresStore(url, reads_only=reads_only)
    path = url.removeprefix("sqlite:///")
    if "://" in path or not path:
        raise ValueError(must_be("db", "a file, sqlite:///file, or postgresql://...", without_password(url)))
    return SqliteStore(path, reads_only=reads_only)

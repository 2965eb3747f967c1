"""`Client` and `AsyncClient`: the decision service from Python, blocking and with asyncio.

What they need of the extra `service` is imported when a client is made, so that the names are there without it.
"""

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Self, Unpack

from wakeful.inputs import must_be, real, whole

if TYPE_CHECKING:
    from wakeful.service.client.attempts import Limits
    from wakeful.service.client.bandit_methods import BanditSettings
    from wakeful.service.client.remote_bandits import (
        AsyncRemoteBandit,
        AsyncRemoteDuelingBandit,
        RemoteBandit,
        RemoteDuelingBandit,
    )
    from wakeful.service.messages import BanditState

NEEDED = "the clients need the extra 'service': pip install 'wakeful[service]'"
ADDRESS = re.compile(r"https?://[^\s/?#@]+(/[^\s?#@]*)?")
ADDRESS_RULE = "the address of a service, such as http://127.0.0.1:8000, without a user name"
VISIBLE = re.compile(r"[!-~]+")


class Client:
    """The decision service, from any thread.

    Every decision gets an id before it is asked for, and feedback counts once. So requests that were not answered, or
    were answered with 429, 502, 503 or 504, are sent again, after pauses that grow, or as long as `Retry-After` says.
    `record` and `learn` are the exceptions. One client serves all threads of a process; after a fork, make a new one.

    Parameters:
        address: of the service, such as `http://127.0.0.1:8000`
        token: that the service knows, if it asks for one; it is never shown
        timeout: seconds after which a request is given up, all its tries included; ten times as many for making a
            bandit and for records, because the service may have to compile the policy first
        retries: how often it is sent again at most
    """

    def __init__(self, address: str, *, token: str | None = None, timeout: float = 30.0, retries: int = 8) -> None:
        self._limits, headers = _prepared(address, token, timeout, retries)
        from wakeful.service.client.exchanges import Blocking

        self._exchange = Blocking(self._limits.address, headers)

    def bandit(
        self, name: str, arms: Iterable[str] | None = None, **settings: "Unpack[BanditSettings]"
    ) -> "RemoteBandit":
        """Return a bandit of the service; with `arms` it is made, unless the very same one is there.

        Settings, for one that is made: `policy`, an object such as `SIExp3()`, or the name of one, by default `Auto`;
        `seed`; `wait`, the seconds until a decision without feedback gets the loss `default_loss`, or none. Without
        `arms` nothing is asked, so that a token which may only decide is enough.
        """
        from wakeful.service.client import bandit_methods, remote_bandits

        found = remote_bandits.RemoteBandit(name, self._limits, self._exchange)
        self._exchange.run(bandit_methods.create(found, "bandit", arms, settings))
        return found

    def dueling_bandit(
        self, name: str, arms: Iterable[str] | None = None, **settings: "Unpack[BanditSettings]"
    ) -> "RemoteDuelingBandit":
        """Return a dueling bandit of the service, as `bandit` does; the default policy is `AutoPairs`."""
        from wakeful.service.client import bandit_methods, remote_bandits

        found = remote_bandits.RemoteDuelingBandit(name, self._limits, self._exchange)
        self._exchange.run(bandit_methods.create(found, "dueling", arms, settings))
        return found

    def bandits(self) -> "list[BanditState]":
        """Return all bandits of the service, and how much has happened to each."""
        from wakeful.service.client.bandit_methods import all_bandits

        return self._exchange.run(all_bandits(self._limits))

    def close(self) -> None:
        """Close all connections."""
        self._exchange.http.close()

    def __enter__(self) -> Self:
        """Return this client, which is closed at the end."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.close()

    def __repr__(self) -> str:
        """Say where the service is."""
        return f"<Client of {self._limits.address}>"


class AsyncClient:
    """The decision service, from coroutines: what `Client` does, awaited; the parameters are the same."""

    def __init__(self, address: str, *, token: str | None = None, timeout: float = 30.0, retries: int = 8) -> None:
        self._limits, headers = _prepared(address, token, timeout, retries)
        from wakeful.service.client.exchanges import Awaiting

        self._exchange = Awaiting(self._limits.address, headers)

    async def bandit(
        self, name: str, arms: Iterable[str] | None = None, **settings: "Unpack[BanditSettings]"
    ) -> "AsyncRemoteBandit":
        """Return a bandit of the service, as `Client.bandit` does."""
        from wakeful.service.client import bandit_methods, remote_bandits

        found = remote_bandits.AsyncRemoteBandit(name, self._limits, self._exchange)
        await self._exchange.run(bandit_methods.create(found, "bandit", arms, settings))
        return found

    async def dueling_bandit(
        self, name: str, arms: Iterable[str] | None = None, **settings: "Unpack[BanditSettings]"
    ) -> "AsyncRemoteDuelingBandit":
        """Return a dueling bandit of the service, as `Client.dueling_bandit` does."""
        from wakeful.service.client import bandit_methods, remote_bandits

        found = remote_bandits.AsyncRemoteDuelingBandit(name, self._limits, self._exchange)
        await self._exchange.run(bandit_methods.create(found, "dueling", arms, settings))
        return found

    async def bandits(self) -> "list[BanditState]":
        """Return all bandits of the service, and how much has happened to each."""
        from wakeful.service.client.bandit_methods import all_bandits

        return await self._exchange.run(all_bandits(self._limits))

    async def close(self) -> None:
        """Close all connections."""
        await self._exchange.http.aclose()

    async def __aenter__(self) -> Self:
        """Return this client, which is closed at the end."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close it."""
        await self.close()

    def __repr__(self) -> str:
        """Say where the service is."""
        return f"<AsyncClient of {self._limits.address}>"


def _prepared(address: Any, token: Any, timeout: Any, retries: Any) -> "tuple[Limits, dict[str, str]]":
    """Return the limits of a client and the headers of its requests, the only place that has the token."""
    if not isinstance(address, str) or not ADDRESS.fullmatch(address):
        shown = address.rpartition("@")[2] if isinstance(address, str) else address  # what is before may be a password
        raise ValueError(must_be("address", ADDRESS_RULE, shown))
    if token is not None and not (isinstance(token, str) and VISIBLE.fullmatch(token)):
        raise ValueError("token must be visible characters of ASCII without spaces")  # and is not shown
    seconds = real("timeout", timeout, "a number of seconds above 0", 0.0, above=True)
    times = whole("retries", retries, "a whole number, at least 0", 0)
    try:
        import httpx  # noqa: F401

        from wakeful.service.client.attempts import Limits
    except ImportError as problem:
        raise ImportError(f"{NEEDED} ({problem})") from None
    return Limits(address.rstrip("/"), seconds, times), {} if token is None else {"Authorization": f"Bearer {token}"}

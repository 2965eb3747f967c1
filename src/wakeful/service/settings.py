"""Settings of the service: each once, with its option, its key in a file, its environment variable and its default."""

import ipaddress
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from typing import Any

from wakeful.inputs import must_be, one_of

PREFIX = "WAKEFUL_"
TOKENS = "WAKEFUL_TOKENS"  # where tokens may be given beside a file; never on the command line, which others can read
ORIGIN = re.compile(r"\*|[a-z][a-z0-9+.-]*://[a-z0-9.:\[\]_-]+")
CONFIG = "WAKEFUL_CONFIG"  # the name of the file
LEVELS = ("debug", "info", "warning", "error")


def _setting(default: Any, metavar: str, about: str, *, low: float = -math.inf, high: float = math.inf) -> Any:
    """Return a field of `Settings`; numbers are between `low` and `high`."""
    return field(default=default, metadata={"metavar": metavar, "about": about, "low": low, "high": high})


@dataclass(frozen=True)
class Settings:
    """How the service runs. What is given on the command line comes before the environment, and that before a file."""

    db: str = _setting("wakeful.db", "URL", "where the logs are: a file, sqlite:///FILE, or postgresql://...")
    host: str = _setting("127.0.0.1", "HOST", "address to listen on; any but loopback needs tokens")
    port: int = _setting(8000, "PORT", "port to listen on; 0: any that is free", low=0, high=65535)
    token_file: str = _setting("", "FILE", f"file of tokens, one a line, with scopes if not all (or {TOKENS})")
    hosts: tuple[str, ...] = _setting(
        ("localhost", "127.0.0.1", "::1"), "NAMES", "names of this server, checked where no token is asked for"
    )
    origins: tuple[str, ...] = _setting((), "URLS", "origins whose web pages may use it, such as https://example.org")
    proxies: tuple[str, ...] = _setting((), "HOSTS", "addresses of proxies whose X-Forwarded-For is believed")
    rate: float = _setting(0.0, "N", "requests a second of one token or address; 0: any number", low=0.0)
    burst: int = _setting(100, "N", "requests at once of one token or address, if there is a rate", low=1)
    queue: int = _setting(10_000, "N", "requests that may wait; more are answered 503", low=1)
    max_body: int = _setting(1_048_576, "BYTES", "longest body of a request", low=1_000)
    max_connections: int = _setting(1_000, "N", "open connections; more are answered 503", low=1)
    max_listeners: int = _setting(100, "N", "listeners of /v1/changes", low=0)
    read_timeout: float = _setting(20.0, "SECONDS", "for a request to arrive, and for an answer to be read", low=0.1)
    keep_alive: int = _setting(30, "SECONDS", "until a connection without requests is closed", low=1)
    stop_timeout: int = _setting(30, "SECONDS", "for what was accepted to be answered when the service stops", low=1)
    log_level: str = _setting("info", "LEVEL", f"what is logged: {', '.join(LEVELS)}")
    log_requests: bool = _setting(False, "", "log every request")

    def __post_init__(self) -> None:
        """Refuse a level that there is not."""
        one_of("log_level", self.log_level, LEVELS)


@dataclass(frozen=True)
class Setting:
    """One of the settings, and the names that it has."""

    name: str
    default: Any
    metavar: str
    about: str
    low: float
    high: float

    @property
    def flag(self) -> str:
        """Its option on the command line."""
        return f"--{self.name.replace('_', '-')}"

    @property
    def variable(self) -> str:
        """Its environment variable."""
        return PREFIX + self.name.upper()

    @property
    def help(self) -> str:
        """What it is, its default, and its other names."""
        shown = ",".join(self.default) if isinstance(self.default, tuple) else self.default
        default = "" if shown == "" or shown is False else f" ({shown})"
        return f"{self.about}{default} [{self.variable}, {self.name}]".replace("%", "%%")

    def read(self, source: str, value: Any) -> Any:
        """Return a value from the command line, a file or the environment, as its type; `source` is how it is called.

        >>> SERVICE_SETTINGS["port"].read("--port", "8080"), SERVICE_SETTINGS["hosts"].read("hosts", "a,b")
        (8080, ('a', 'b'))
        """
        kind = type(self.default)
        if kind is bool:
            return _truth(source, value)
        if kind is tuple:
            items = value.split(",") if isinstance(value, str) else value
            if not isinstance(items, list) or not all(isinstance(item, str) for item in items):
                raise ValueError(must_be(source, "names, separated by commas", value))
            found = tuple(item.strip() for item in items if item.strip())
            return _origins(source, found) if self.name == "origins" else found
        if kind is str:
            if not isinstance(value, str):
                raise ValueError(must_be(source, "text", value))
            return one_of(source, value, LEVELS) if self.name == "log_level" else value
        return self._number(source, value)

    def _number(self, source: str, value: Any) -> Any:
        """Return a number within its bounds."""
        kind = type(self.default)
        rule = "a whole number" if kind is int else "a number"
        ends = [
            f"from {self.low:g}" if self.low > -math.inf else "",
            f"to {self.high:g}" if self.high < math.inf else "",
        ]
        rule = " ".join([rule, *filter(None, ends)])
        try:
            number = kind(value) if isinstance(value, str | kind) or (kind is float and type(value) is int) else None
        except ValueError:
            number = None
        if number is None or isinstance(value, bool) or not self.low <= number <= self.high or abs(number) == math.inf:
            raise ValueError(must_be(source, rule, value))
        return number


SERVICE_SETTINGS = {
    each.name: Setting(name=each.name, default=each.default, **each.metadata) for each in fields(Settings)
}


def resolve(flags: Mapping[str, Any], file: Mapping[str, Any], environment: Mapping[str, str]) -> Settings:
    """Return the settings that options, a file and the environment give, in this order of precedence: the first, the
    last, the second.

    >>> resolve({"port": "1"}, {"port": 2, "rate": 3}, {"WAKEFUL_PORT": "4", "WAKEFUL_RATE": "5"}).rate
    5.0
    """
    for name in file:
        one_of("key of --config", name, SERVICE_SETTINGS)
    found = {}
    for name, setting in SERVICE_SETTINGS.items():
        if flags.get(name) is not None:
            found[name] = setting.read(setting.flag, flags[name])
        elif setting.variable in environment:
            found[name] = setting.read(setting.variable, environment[setting.variable])
        elif name in file:
            found[name] = setting.read(f"{name} in --config", file[name])
    return Settings(**found)


def misspelt(environment: Mapping[str, str]) -> list[str]:
    """Return a sentence for each environment variable that is none of the service's, but very close to one of them.

    >>> misspelt({"WAKEFUL_TOKEN": "...", "WAKEFUL_DB": "wakeful.db", "WAKEFUL_COLOUR": "blue"})
    ["WAKEFUL_TOKEN is not read (did you mean 'WAKEFUL_TOKENS'?)"]
    """
    known = {setting.variable for setting in SERVICE_SETTINGS.values()} | {TOKENS, CONFIG}
    ends = sorted(name.removeprefix(PREFIX) for name in known)
    others = sorted(name for name in environment if name.startswith(PREFIX) and name not in known)
    return [
        f"{name} is not read (did you mean '{PREFIX}{end}'?)"
        for name in others
        for end in get_close_matches(name.removeprefix(PREFIX), ends, n=1, cutoff=0.75)
    ]


def _origins(source: str, given: tuple[str, ...]) -> tuple[str, ...]:
    """Return origins if each is one as browsers write them: any other would never be met."""
    for origin in given:
        if not ORIGIN.fullmatch(origin):
            raise ValueError(must_be(source, "origins such as https://example.org, or *", origin))
    return given


def without_password(url: str) -> str:
    """Return the URL of a database as it may be shown.

    >>> without_password("postgresql://me:secret@host/db"), without_password("postgresql://host/db?password=secret")
    ('postgresql://me:***@host/db', 'postgresql://host/db?password=***')
    """
    shown = re.sub(r"(://[^:@/?]*:)[^?]*@", r"\1***@", url)
    return re.sub(r"([?&](?:ssl)?password=)[^&]*", r"\1***", shown)


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def _truth(source: str, value: Any) -> bool:
    """Return true or false."""
    known = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False, "off": False}
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.lower() in known:
        return known[value.lower()]
    raise ValueError(must_be(source, "true or false", value))

"""Settings: an option, an environment variable and a key of a file for each; what is wrong is named by its source."""

from dataclasses import fields
from typing import Any

import pytest

from wakeful.service.settings import SERVICE_SETTINGS, Settings, is_loopback, resolve


def test_options_come_before_the_environment_and_that_before_the_file() -> None:
    file = {"port": 1, "rate": 5, "hosts": ["a", "b"]}
    environment = {"WAKEFUL_PORT": "2", "WAKEFUL_HOSTS": "c", "HOME": "/"}
    found = resolve({"port": "3", "db": None}, file, environment)
    assert (found.port, found.hosts, found.rate, found.db) == (3, ("c",), 5.0, "wakeful.db")
    assert resolve({}, file, {}).hosts == ("a", "b")
    assert resolve({}, {}, {}) == Settings()


def test_every_setting_has_three_names_and_says_what_it_is() -> None:
    assert set(SERVICE_SETTINGS) == {field.name for field in fields(Settings)}
    for setting in SERVICE_SETTINGS.values():
        assert setting.about
        assert setting.variable in setting.help
        assert setting.flag == "--" + setting.name.replace("_", "-")
    assert SERVICE_SETTINGS["max_body"].help == "longest body of a request (1048576) [WAKEFUL_MAX_BODY, max_body]"


@pytest.mark.parametrize(
    ("flags", "file", "environment", "sentence"),
    [
        ({"port": "x"}, {}, {}, "--port must be a whole number from 0 to 65535, got 'x'"),
        ({"port": "65536"}, {}, {}, "--port must be a whole number from 0 to 65535, got '65536'"),
        ({}, {"port": True}, {}, "port in --config must be a whole number from 0 to 65535, got True"),
        ({}, {"port": 80.5}, {}, "port in --config must be a whole number from 0 to 65535, got 80.5"),
        ({}, {}, {"WAKEFUL_RATE": "-1"}, "WAKEFUL_RATE must be a number from 0, got '-1'"),
        ({}, {}, {"WAKEFUL_RATE": "nan"}, "WAKEFUL_RATE must be a number from 0, got 'nan'"),
        ({}, {}, {"WAKEFUL_RATE": "inf"}, "WAKEFUL_RATE must be a number from 0, got 'inf'"),
        ({}, {}, {"WAKEFUL_LOG_REQUESTS": "2"}, "WAKEFUL_LOG_REQUESTS must be true or false, got '2'"),
        ({}, {"hosts": 3}, {}, "hosts in --config must be names, separated by commas, got 3"),
        ({"origins": "https://a.example,b.example"}, {}, {}, "--origins must be origins such as https://example.org"),
        ({}, {"origins": ["https://a.example/"]}, {}, "or *, got 'https://a.example/'"),
        ({}, {"db": 3}, {}, "db in --config must be text, got 3"),
        ({}, {"prot": 3}, {}, "(did you mean 'port'?)"),
        ({"log_level": "loud"}, {}, {}, "--log-level must be one of 'debug', 'info', 'warning', 'error', got 'loud'"),
    ],
)
def test_what_is_wrong_is_named(flags: Any, file: Any, environment: Any, sentence: str) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011 (the whole sentence is checked below)
        resolve(flags, file, environment)
    assert sentence in str(caught.value)


def test_origins_are_those_that_browsers_send() -> None:
    given = "https://a.example,http://127.0.0.1:8080,http://[::1]:3000,app://local,*"
    assert resolve({"origins": given}, {}, {}).origins == tuple(given.split(","))


def test_true_and_false_have_several_names() -> None:
    assert resolve({}, {}, {"WAKEFUL_LOG_REQUESTS": "Yes"}).log_requests
    assert not resolve({}, {"log_requests": True}, {"WAKEFUL_LOG_REQUESTS": "0"}).log_requests
    assert resolve({"log_requests": True}, {}, {}).log_requests


@pytest.mark.parametrize("host", ["127.0.0.1", "127.1.2.3", "::1", "[::1]", "localhost", "LOCALHOST"])
def test_loopback(host: str) -> None:
    assert is_loopback(host)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.0.0.1", "example.org", "localhost.example.org", ""])
def test_not_loopback(host: str) -> None:
    assert not is_loopback(host)

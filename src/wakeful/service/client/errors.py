"""Errors of the clients: why the service did not do what it was asked for, in the service's own sentence.

ServiceError                  all of them; `code`, `status` (HTTP's number, 0 without an answer), `field`
├── Invalid (ValueError)      400, 413, 415, 422: a value, a type or a field was wrong
├── Denied                    401, 403: no token that is known, or one that may not do this
├── NotFound (LookupError)    404, 405: no such bandit, decision, arm or path
├── Conflict                  409: a different bandit of that name, other feedback than before
├── Unavailable               408, 429, 502, 503, 504, or no answer at all, until the client gave up
└── Failed                    500, or an answer that is none of the service's

Wrong arguments that a client sees by itself are `ValueError` and `TypeError`, as in the library.
"""

from collections.abc import Sequence
from typing import Any


class ServiceError(Exception):
    """The service did not do what it was asked for.

    Parameters:
        message: one sentence
        code: what the service calls it, such as `conflict`
        status: HTTP's number for it, 0 without an answer
        field: what was wrong in the request, such as `awake[0]`
    """

    def __init__(self, message: str, code: str = "", status: int = 0, field: str | None = None) -> None:
        super().__init__(message, code, status, field)
        self.message, self.code, self.status, self.field = message, code, status, field
        self.results: Sequence[Any] = ()  # of a batch: what each part came to, errors among them

    def __str__(self) -> str:
        """Return the sentence."""
        return self.message


class Invalid(ServiceError, ValueError):  # noqa: N818 (these names follow those of the service's codes)
    """The request was wrong."""


class Denied(ServiceError):  # noqa: N818
    """The token is not known, or may not do this."""


class NotFound(ServiceError, LookupError):  # noqa: N818
    """There is no such bandit, decision, arm or path."""


class Conflict(ServiceError):  # noqa: N818
    """What is there already is different: a bandit of that name, or feedback that was given before."""


class Unavailable(ServiceError):  # noqa: N818
    """The service did not answer, or was too busy, until the client gave up."""


class Failed(ServiceError):  # noqa: N818
    """The service failed, or the answer is none of its own."""


ERRORS: dict[int, type[ServiceError]] = {
    **dict.fromkeys((400, 413, 415, 422), Invalid),
    **dict.fromkeys((401, 403), Denied),
    **dict.fromkeys((404, 405), NotFound),
    409: Conflict,
    **dict.fromkeys((408, 429, 502, 503, 504), Unavailable),
}


def service_error(status: int, code: str, message: str, field: str | None = None) -> ServiceError:
    """Return the error for an answer of this status."""
    return ERRORS.get(status, Failed)(message, code, status, field)

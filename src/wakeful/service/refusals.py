"""`Refused`: why a request was not carried out, as a code, a sentence and the field that was wrong."""

from wakeful.inputs import LONGEST_SHOWN

STATUS = {  # HTTP's number for every code
    "bad_request": 400,
    "unauthorized": 401,
    "forbidden": 403,
    "not_found": 404,
    "method_not_allowed": 405,
    "timeout": 408,
    "conflict": 409,
    "too_large": 413,
    "path_too_long": 414,
    "unsupported_type": 415,
    "invalid": 422,
    "too_many": 429,
    "failed": 500,
    "unavailable": 503,
}


class Refused(Exception):  # noqa: N818 (a request that is refused is no error of the service)
    """A request that changes nothing: `code` is one of `STATUS`, `message` one sentence, `field` what was wrong."""

    def __init__(self, code: str, message: str, field: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.field = field if field is None or len(field) <= LONGEST_SHOWN else f"{field[:LONGEST_SHOWN]}..."

    @property
    def status(self) -> int:
        """The number that HTTP has for it."""
        return STATUS[self.code]

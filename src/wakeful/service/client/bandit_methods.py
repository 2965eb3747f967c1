"""What both kinds of bandits of the service are asked for: to be made, for their state, their arms, and batches."""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, TypedDict, TypeVar

from msgspec import UNSET, UnsetType, json

from wakeful.duels.policy import DuelingPolicy
from wakeful.inputs import did_you_mean, must_be
from wakeful.policies.policy import Policy
from wakeful.service.client.attempts import Limits, Question, Steps, attempts
from wakeful.service.client.errors import NotFound, ServiceError, Unavailable, service_error
from wakeful.service.client.remote import Remote, finite, lists_of, names_in
from wakeful.service.messages import BanditList, BanditState, BatchResult, Changes, Recorded

Result = TypeVar("Result")
Reader = Callable[[Any], Any]
AnyPolicy = Policy | DuelingPolicy
COMPILING = 10.0  # times the usual patience, where the service may have to compile something first


class BanditSettings(TypedDict, total=False):
    """Settings of a bandit to make.

    `policy`: how to choose, by default `Auto` or `AutoPairs`; `seed`: of its random numbers; `wait`: how many seconds a
    decision waits for feedback, after which `default_loss` is recorded, or nothing.
    """

    policy: AnyPolicy | str | None
    seed: int | None
    wait: float | None
    default_loss: float | None


def decoder(kind: type[Result]) -> Callable[[bytes], Result]:
    """Return what reads a body of this type."""
    return json.Decoder(kind).decode


read_state = decoder(BanditState)
read_batch = decoder(BatchResult)


def create(self: Remote, kind: str, arms: Iterable[str] | None, settings: BanditSettings) -> Steps[None]:
    """Make the bandit, or find that it is there; without arms nothing is asked."""
    if arms is None:
        if settings:
            raise ValueError(must_be("arms", "a list of names, to make a bandit with settings", arms))
        return
    given = {name: finite(name, value) for name, value in settings.items()}
    body: dict[str, Any] = {"kind": kind, "arms": names_in("arms", arms), **given}
    policy = body.get("policy")
    if isinstance(policy, AnyPolicy):
        body |= policy.to_dict()
    elif policy is not None and not isinstance(policy, str):
        raise TypeError(must_be("policy", "a policy such as SIExp3(), or the name of one", policy))
    yield from self.ask("PUT", (), read_state, body=body, patience=COMPILING)


def state(self: Remote) -> Steps[BanditState]:
    """Return the bandit as the service shows it: policy, arms, settings, and how much has happened."""
    return (yield from self.ask("GET", (), read_state))


def configure(
    self: Remote, *, wait: float | UnsetType | None = UNSET, default_loss: float | UnsetType | None = UNSET
) -> Steps[BanditState]:
    """Change how long decisions wait for feedback, and the loss that is recorded after that; what is left out stays."""
    changes = Changes(finite("wait", wait), finite("default_loss", default_loss))
    return (yield from self.ask("PATCH", (), read_state, body=changes))


def arms(self: Remote) -> Steps[tuple[str, ...]]:
    """Return the names of all arms, retired ones among them."""
    found = yield from state(self)
    return tuple(arm.name for arm in found.arms)


def retired(self: Remote) -> Steps[tuple[str, ...]]:
    """Return the names of the retired arms."""
    found = yield from state(self)
    return tuple(arm.name for arm in found.arms if arm.retired)


def rounds(self: Remote) -> Steps[int]:
    """Return how many decisions the service made; records of others are not among them."""
    found = yield from state(self)
    return found.decisions


def add_arm(self: Remote, name: str) -> Steps[str]:
    """Add an arm, or revive a retired one, and return its name; one that is there stays as it is."""
    yield from self.ask("POST", ("arms",), read_state, body={"name": name})
    return name


def retire_arm(self: Remote, name: str) -> Steps[None]:
    """Make an arm unavailable until `revive_arm`; it keeps its name, and late feedback is still learned."""
    yield from self.ask("DELETE", ("arms", name), read_state)


def revive_arm(self: Remote, name: str) -> Steps[None]:
    """Make a retired arm available again, with all that was learned of it; it was asleep meanwhile."""
    known = yield from arms(self)
    if name not in known:
        raise NotFound(must_be("name", "one of this bandit's arms", name) + did_you_mean(name, known), "not_found")
    yield from add_arm(self, name)


def ensure_arms(self: Remote, names: Iterable[str]) -> Steps[tuple[str, ...]]:
    """Add the arms of `names` that are not there yet, and revive those that are retired; return what was added."""
    wanted = list(dict.fromkeys(names_in("names", names)))
    found = yield from state(self)
    is_gone = {arm.name: arm.retired for arm in found.arms}
    for name in wanted:
        if is_gone.get(name, True):
            yield from add_arm(self, name)
    return tuple(name for name in wanted if name not in is_gone)


def run_batch(self: Remote, field: str, items: Iterable[Mapping[str, Any]], read: Reader) -> Steps[list[Any]]:
    """Return what many decisions or feedbacks came to; if any was refused, raise with all `results`."""
    results: list[Any] = []
    try:
        for _, body in lists_of(field, items):
            results += yield from self.ask("POST", ("batch",), partial(_batch_results, field, read), body=body)
    except ServiceError as problem:
        raise _with_results(problem, results) from None
    refused = [n for n, result in enumerate(results) if isinstance(result, ServiceError)]
    if refused:
        first: ServiceError = results[refused[0]]
        sentence = f"{len(refused)} of {len(results)} were refused, the first at position {refused[0]}: {first}"
        raise _with_results(service_error(first.status, first.code, sentence, first.field), results)
    return results


def _with_results(problem: ServiceError, results: list[Any]) -> ServiceError:
    """Return an error that has the results of a batch."""
    problem.results = results
    return problem


def _batch_results(field: str, read: Reader, body: bytes) -> list[Any]:
    """Return the results of a batch, or errors in their places; where the service was busy, ask for all again."""
    results: list[Any] = []
    for found in getattr(read_batch(body), field):
        if found.error is None:
            results.append(read(found))
            continue
        problem = service_error(found.status, found.error.code, found.error.message, found.error.field)
        if isinstance(problem, Unavailable):
            raise problem
        results.append(problem)
    return results


def send_records(self: Remote, records: Iterable[Mapping[str, Any]]) -> Steps[int]:
    """Let the service learn from decisions of others, and return how many they were.

    The service cannot tell a repeated record from another one like it. So these are asked again only if it certainly
    did nothing.
    """
    done = 0
    try:
        for many, body in lists_of("records", records):
            read = decoder(Recorded)
            yield from self.ask("POST", ("records",), read, body=body, repeats=False, patience=COMPILING)
            done += many
    except ServiceError as problem:
        if done:
            problem.add_note(f"{done:,} records before these were learned")
        raise
    return done


def all_bandits(limits: Limits) -> Steps[list[BanditState]]:
    """Return all bandits of a service."""
    found = yield from attempts(Question("GET", "/v1/bandits", decoder(BanditList)), limits)
    return found.bandits

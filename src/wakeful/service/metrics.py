"""What Prometheus reads at `/metrics`. Requests are counted in plain numbers, which costs next to nothing."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from prometheus_client import CollectorRegistry, GCCollector, PlatformCollector, ProcessCollector, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.registry import Collector

from wakeful.service.messages import BanditState

BOUNDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)  # seconds
PROMETHEUS_TEXT = b"text/plain; version=0.0.4; charset=utf-8"


class Meter:
    """The requests of one route: how many by status, and how long they took."""

    def __init__(self, method: str, route: str) -> None:
        self.method, self.route = method, route
        self.statuses: dict[int, int] = {}
        self.buckets = [0] * (len(BOUNDS) + 1)
        self.seconds = 0.0

    def count(self, status: int, seconds: float) -> None:
        """Count a request that was answered."""
        self.statuses[status] = self.statuses.get(status, 0) + 1
        self.buckets[bisect_left(BOUNDS, seconds)] += 1
        self.seconds += seconds


class StoreNow(NamedTuple):
    """How the store is: whether it answers, requests that wait, commits so far, and requests in each of the last."""

    up: bool
    waiting: int
    commits: int
    batches: Sequence[int]


class Metrics(Collector):
    """All that is measured; `text` is what Prometheus reads."""

    def __init__(self) -> None:
        self.meters: list[Meter] = []
        self.listeners = 0
        self._bandits: Sequence[BanditState] = ()
        self._store = StoreNow(False, 0, 0, ())
        self._registry = CollectorRegistry()
        self._registry.register(self)
        for collector in (ProcessCollector, PlatformCollector, GCCollector):
            collector(registry=self._registry)

    def meter(self, method: str, route: str) -> Meter:
        """Return a new meter for the requests of a route."""
        made = Meter(method, route)
        self.meters.append(made)
        return made

    def text(self, bandits: Sequence[BanditState], store: StoreNow) -> bytes:
        """Return the text for Prometheus, with what has happened to these bandits and to the store."""
        self._bandits, self._store = bandits, store
        return generate_latest(self._registry)

    def describe(self) -> Iterator[Any]:
        """Yield nothing: what there is depends on the bandits."""
        yield from ()

    def collect(self) -> Iterator[Any]:
        """Yield all that is measured, now."""
        yield from self._requests()
        yield from self._of_bandits()
        yield from self._of_store()

    def _requests(self) -> Iterator[Any]:
        """Yield how many requests were answered, and how fast."""
        names = ["method", "route"]
        count = CounterMetricFamily("wakeful_requests", "Requests that were answered.", labels=[*names, "status"])
        times = HistogramMetricFamily("wakeful_request_seconds", "From the request to its answer.", labels=names)
        for meter in self.meters:
            labels = [meter.method, meter.route]
            for status, n in sorted(meter.statuses.items()):
                count.add_metric([*labels, str(status)], n)
            if meter.statuses:
                times.add_metric(labels, _cumulated(meter.buckets), meter.seconds)
        yield count
        yield times
        yield GaugeMetricFamily("wakeful_listeners", "Listeners of /v1/changes.", value=self.listeners)

    def _of_bandits(self) -> Iterator[Any]:
        """Yield what has happened to each bandit."""
        told = {
            "decisions": "Decisions that were made.",
            "feedback": "Feedback that was learned.",
            "expired": "Decisions whose wait for feedback is over.",
            "late": "Feedback that came too late to be learned.",
            "events": "Events in the log.",
        }
        for field, about in told.items():
            count = CounterMetricFamily(f"wakeful_{field}", about, labels=["bandit"])
            for bandit in self._bandits:
                count.add_metric([bandit.name], getattr(bandit, field))
            yield count
        pending = GaugeMetricFamily("wakeful_pending", "Decisions that wait for feedback.", labels=["bandit"])
        for bandit in self._bandits:
            pending.add_metric([bandit.name], bandit.pending)
        yield pending

    def _of_store(self) -> Iterator[Any]:
        """Yield how the store is."""
        store = self._store
        mean = sum(store.batches) / len(store.batches) if store.batches else 0.0
        yield GaugeMetricFamily("wakeful_store_up", "Whether the store answers.", value=float(store.up))
        yield GaugeMetricFamily("wakeful_queue", "Requests that wait for the store.", value=store.waiting)
        yield CounterMetricFamily("wakeful_commits", "Commits of this process.", value=store.commits)
        yield GaugeMetricFamily("wakeful_commit_size", "Requests in a commit, mean of the last ones.", value=mean)


def _cumulated(buckets: list[int]) -> list[tuple[str, float]]:
    """Return the buckets of a histogram as Prometheus wants them: each holds all before it."""
    ends = [*map(str, BOUNDS), "+Inf"]
    total, made = 0, []
    for end, n in zip(ends, buckets, strict=True):
        total += n
        made.append((end, float(total)))
    return made

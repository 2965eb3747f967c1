"""What Prometheus reads."""

from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from serving import connected, new_bandit
from wakeful.service.metrics import BOUNDS, Metrics, StoreNow


def values(text: str) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
    """Return all values by name and labels."""
    samples = [sample for family in text_string_to_metric_families(text) for sample in family.samples]
    return {(sample.name, frozenset(sample.labels.items())): sample.value for sample in samples}


def test_requests_and_bandits_are_counted(tmp_path: Path) -> None:
    with connected(tmp_path) as client:
        new_bandit(client, 'the%20"shop"')
        for loss in (0.5, 2):
            made = client.post('/v1/bandits/the%20"shop"/decisions', json={}).json()
            client.post(f'/v1/bandits/the%20"shop"/decisions/{made["id"]}/feedback', json={"loss": loss})
        client.get("/nowhere")
        answer = client.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=")
    found = values(answer.text)
    shop = frozenset({("bandit", 'the "shop"')})
    assert found["wakeful_decisions_total", shop] == 2
    assert found["wakeful_feedback_total", shop] == 1
    assert found["wakeful_pending", shop] == 1
    route = {("method", "POST"), ("route", "/v1/bandits/{name}/decisions/{id}/feedback")}
    assert found["wakeful_requests_total", frozenset({*route, ("status", "200")})] == 1
    assert found["wakeful_requests_total", frozenset({*route, ("status", "422")})] == 1
    assert found["wakeful_request_seconds_count", frozenset(route)] == 2
    assert found["wakeful_requests_total", frozenset({("method", "*"), ("route", "*"), ("status", "404")})] == 1
    assert found["wakeful_store_up", frozenset()] == 1
    assert found["wakeful_commits_total", frozenset()] >= 4
    assert found["wakeful_commit_size", frozenset()] >= 1
    assert "process_resident_memory_bytes" in answer.text


def test_times_are_counted_in_buckets_that_hold_all_before_them() -> None:
    metrics = Metrics()
    meter = metrics.meter("GET", "/")
    for seconds in (BOUNDS[0], BOUNDS[1], 100.0):
        meter.count(200, seconds)
    found = values(metrics.text([], StoreNow(False, 3, 7, [1, 2, 6])).decode())
    labels = {("method", "GET"), ("route", "/")}
    buckets = [found["wakeful_request_seconds_bucket", frozenset({*labels, ("le", str(end))})] for end in BOUNDS]
    assert buckets == [1.0] + [2.0] * (len(BOUNDS) - 1)
    assert found["wakeful_request_seconds_bucket", frozenset({*labels, ("le", "+Inf")})] == 3
    assert found["wakeful_request_seconds_sum", frozenset(labels)] == pytest.approx(100.0015)
    assert (found["wakeful_store_up", frozenset()], found["wakeful_queue", frozenset()]) == (0, 3)
    assert (found["wakeful_commits_total", frozenset()], found["wakeful_commit_size", frozenset()]) == (7, 3)

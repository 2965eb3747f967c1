"""Every route over a real server: what it answers, and how it refuses."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from serving import ARMS, connected, error_of, new_bandit
from wakeful.service.routes import OPERATIONS

DUELS = {"kind": "dueling", "arms": ["a", "b", "c"], "seed": 3}


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    with connected(tmp_path_factory.mktemp("store")) as found:
        new_bandit(found)
        new_bandit(found, "arena", **DUELS)
        yield found


def decided(client: httpx.Client, **body: Any) -> dict[str, Any]:
    """Return a new decision."""
    answer = client.post("/v1/bandits/drinks/decisions", json=body)
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()
    return found


def test_a_bandit_is_made_once_and_the_same_again_changes_nothing(client: httpx.Client) -> None:
    made = new_bandit(client, "once")
    again = client.put("/v1/bandits/once", json={"arms": ARMS, "seed": 7})
    assert (again.status_code, again.json()) == (200, made)
    assert made["policy"] == "Auto"
    assert [arm["name"] for arm in made["arms"]] == ARMS


@pytest.mark.parametrize(
    ("field", "value", "shown"),
    [
        ("arms", ["other"], "['tea', 'coffee', 'juice'], as it was made with, got ['other']"),
        ("kind", "dueling", "'bandit', as it was made with, got 'dueling'"),
        ("policy", "Uniform", "'Auto', as it was made with, got 'Uniform'"),
        ("parameters", {"guard": 0.5}, "as it was made with, got {"),
        ("wait", 60.0, "None, as it was made with, got 60.0"),
        ("default_loss", 0.5, "None, as it was made with, got 0.5"),
        ("seed", 8, "left out, or the one that it was made with, got 8"),
    ],
)
def test_a_different_bandit_of_a_name_is_told_what_is_different(
    client: httpx.Client, field: str, value: Any, shown: str
) -> None:
    body = {"arms": ARMS, "seed": 7, field: value}
    problem = error_of(client.put("/v1/bandits/drinks", json=body), 409, "conflict")
    assert problem["field"] == field
    assert problem["message"].startswith(f"a different bandit has the name 'drinks': {field} must be ")
    assert shown in problem["message"]


def test_all_bandits_and_one(client: httpx.Client) -> None:
    listed = client.get("/v1/bandits").json()["bandits"]
    assert {"drinks", "arena"} <= {bandit["name"] for bandit in listed}
    assert client.get("/v1/bandits/arena").json()["kind"] == "dueling"
    assert error_of(client.get("/v1/bandits/none"), 404, "not_found")["field"] == "name"


def test_settings_change(client: httpx.Client) -> None:
    new_bandit(client, "patient", wait=60.0)
    answer = client.patch("/v1/bandits/patient", json={"default_loss": 0.5})
    assert (answer.status_code, answer.json()["wait"], answer.json()["default_loss"]) == (200, 60.0, 0.5)
    assert client.patch("/v1/bandits/patient", json={"wait": None}).json()["wait"] is None


def test_arms_come_and_go_and_may_have_slashes_in_their_names(client: httpx.Client) -> None:
    new_bandit(client, "arms")
    added = client.post("/v1/bandits/arms/arms", json={"name": "milk/oat é"})
    assert (added.status_code, added.json()["arms"][-1]) == (201, {"name": "milk/oat é", "retired": False})
    assert client.post("/v1/bandits/arms/arms", json={"name": "milk/oat é"}).status_code == 200
    gone = client.delete("/v1/bandits/arms/arms/milk%2Foat%20%C3%A9")
    assert (gone.status_code, gone.json()["arms"][-1]["retired"]) == (200, True)
    assert client.post("/v1/bandits/arms/arms", json={"name": "milk/oat é"}).status_code == 201
    error_of(client.delete("/v1/bandits/arms/arms/none"), 404, "not_found")


def test_a_decision_and_its_feedback(client: httpx.Client) -> None:
    made = decided(client, awake=["tea", "juice"])
    assert set(made) == {"id", "arm", "probability"}
    assert made["arm"] in {"tea", "juice"}
    path = f"/v1/bandits/drinks/decisions/{made['id']}"
    assert client.get(path).json()["state"] == "pending"
    given = client.post(f"{path}/feedback", json={"loss": 0.25})
    assert (given.status_code, given.json()) == (200, {"id": made["id"], "status": "counted"})
    assert client.post(f"{path}/feedback", json={"reward": 0.75}).json()["status"] == "known"
    error_of(client.post(f"{path}/feedback", json={"loss": 0.5}), 409, "conflict")
    seen = client.get(path).json()
    assert (seen["state"], seen["feedback"]["loss"], seen["arm"]) == ("answered", 0.25, made["arm"])
    assert seen["awake"] == ["tea", "juice"]
    assert len(seen["probabilities"]) == 2
    error_of(client.post("/v1/bandits/drinks/decisions/nobody/feedback", json={"loss": 1}), 404, "not_found")
    error_of(client.post("/v1/bandits/nobody/decisions", json={}), 404, "not_found")


def test_a_client_may_repeat_a_decision_under_an_id_of_its_own(client: httpx.Client) -> None:
    first = client.post("/v1/bandits/drinks/decisions", json={"id": "order-1"})
    again = client.post("/v1/bandits/drinks/decisions", json={"id": "order-1"})
    assert (first.status_code, again.status_code) == (201, 200)
    assert first.json() == again.json()
    assert error_of(client.post("/v1/bandits/drinks/decisions", json={"id": "d1"}), 422, "invalid")["field"] == "id"
    assert error_of(client.post("/v1/bandits/drinks/decisions", json={"id": "a\nb"}), 422, "invalid")["field"] == "id"


def test_a_duel_its_feedback_its_ranking_and_its_wins(client: httpx.Client) -> None:
    made = client.post("/v1/bandits/arena/decisions", json={"distinct": True, "group": "code"}).json()
    assert set(made) == {"id", "left", "right", "probability"}
    path = f"/v1/bandits/arena/decisions/{made['id']}"
    assert client.post(f"{path}/feedback", json={"winner": "left"}).json()["status"] == "counted"
    seen = client.get(path).json()
    assert (seen["feedback"]["winner"], seen["group"]) == (made["left"], "code")
    assert [len(row) for row in seen["probabilities"]] == [len(row) for row in seen["allowed"]]
    found = client.get("/v1/bandits/arena/ranking", params={"level": 0.9}).json()
    assert (found["rows"][0]["arm"], found["level"], found["groups"]) == (made["left"], 0.9, ["code"])
    assert client.get("/v1/bandits/arena/ranking?group=code").json()["group"] == "code"
    assert error_of(client.get("/v1/bandits/arena/ranking?group=x"), 404, "not_found")["field"] == "group"
    table = client.get("/v1/bandits/arena/wins").json()
    assert table["wins"][table["arms"].index(made["left"])][table["arms"].index(made["right"])] == 1.0
    error_of(client.get("/v1/bandits/arena/report"), 422, "invalid")
    error_of(client.get("/v1/bandits/drinks/ranking"), 422, "invalid")


def test_a_batch_has_a_result_for_each_part(client: httpx.Client) -> None:
    one = decided(client)
    body = {
        "decisions": [{"awake": ["tea"]}, {"awake": ["x"]}, {"id": "batch-1"}, {"id": "batch-1"}],
        "feedback": [{"decision": one["id"], "loss": 0}, {"decision": "nobody", "loss": 1}],
    }
    found = client.post("/v1/bandits/drinks/batch", json=body).json()
    assert [part["status"] for part in found["decisions"]] == [201, 422, 201, 200]
    assert found["decisions"][0]["arm"] == "tea"
    assert found["decisions"][1]["error"]["code"] == "invalid"
    assert found["decisions"][2]["id"] == found["decisions"][3]["id"] == "batch-1"
    assert [part["status"] for part in found["feedback"]] == [200, 404]
    assert found["feedback"][0] == {"status": 200, "id": one["id"], "outcome": "counted"}
    assert client.post("/v1/bandits/drinks/batch", json={}).json() == {"decisions": [], "feedback": []}
    refused = client.post("/v1/bandits/drinks/batch", json={"feedback": [{"decision": "a", "loss": 2}]})
    assert error_of(refused, 422, "invalid")["field"] == "feedback[0].loss"


def test_decisions_of_others_are_learned(client: httpx.Client) -> None:
    new_bandit(client, "others")
    rows = [{"arm": "tea", "awake": ["tea", "juice"], "probability": 0.5, "loss": 0.1}] * 3
    assert client.post("/v1/bandits/others/records", json={"records": rows}).json() == {"records": 3}
    arm = client.get("/v1/bandits/others/report").json()["arms"][0]
    assert (arm["feedback"], round(arm["mean_loss"], 9)) == (3, 0.1)


@pytest.mark.parametrize(
    ("bandit", "record", "field", "sentence"),
    [
        (
            "drinks",
            {"left": "a", "right": "b"},
            "",
            "record must be arm, awake, probability, and loss or reward, got {'le",
        ),
        ("drinks", {"arm": "water", "loss": 1}, ".arm", "arm must be one of this bandit's arms, got 'water'"),
        ("drinks", {"arm": "tea"}, ".loss", "feedback must be exactly one of loss and reward"),
        ("arena", {"arm": "a", "loss": 1}, "", "record must be left, right and winner, for duels, got {'arm': 'a', 'l"),
    ],
)
def test_a_wrong_record_is_named_in_the_words_of_the_request(
    client: httpx.Client, bandit: str, record: dict[str, Any], field: str, sentence: str
) -> None:
    right = {"left": "a", "right": "b", "winner": "tie"} if bandit == "arena" else {"arm": "tea", "loss": 1}
    answer = client.post(f"/v1/bandits/{bandit}/records", json={"records": [right, record]})
    problem = error_of(answer, 422, "invalid")
    assert problem["field"] == f"records[1]{field}"
    assert problem["message"].startswith(sentence)


def test_what_a_bandit_has_learned_can_be_read(client: httpx.Client) -> None:
    new_bandit(client, "read", policy="SIExp3")
    made = client.post("/v1/bandits/read/decisions", json={"awake": ["tea", "juice"]}).json()
    before = client.get("/v1/bandits/read/report").json()
    assert (before["loss"], before["arms"][0]["mean_loss"]) == (None, None)
    client.post(f"/v1/bandits/read/decisions/{made['id']}/feedback", json={"loss": 1})
    report = client.get("/v1/bandits/read/report?level=0.9").json()
    assert (report["decisions"], report["loss"], report["level"]) == (1, 1.0, 0.9)
    assert set(report["gain"]) == {"value", "low", "high"}
    some = client.get("/v1/bandits/read/probabilities", params={"awake": ["tea", "juice"]}).json()
    assert some["awake"] == ["tea", "juice"]
    assert sum(some["probabilities"]) == pytest.approx(1.0)
    assert client.get("/v1/bandits/read/probabilities").json()["awake"] == ARMS
    gains = client.get("/v1/bandits/read/switch-gains").json()
    assert len(gains["gains"]) == len(gains["errors"][0]) == 3
    why = client.get(f"/v1/bandits/read/decisions/{made['id']}/explanation").json()
    assert (why["arm"], why["id"]) == (made["arm"], made["id"])
    assert {arm["arm"] for arm in why["arms"]} == {"tea", "juice"}
    error_of(client.get("/v1/bandits/read/probabilities?awake=x"), 422, "invalid")
    error_of(client.get("/v1/bandits/read/report?level=1"), 422, "invalid")


def test_the_log_is_read_in_parts_and_a_bandit_deleted_once_it_was_read(client: httpx.Client) -> None:
    new_bandit(client, "short")
    made = client.post("/v1/bandits/short/decisions", json={"awake": ["tea"], "id": "mine"}).json()
    client.post("/v1/bandits/short/decisions/mine/feedback", json={"loss": 1})
    client.post("/v1/bandits/short/arms", json={"name": "milk"})
    client.delete("/v1/bandits/short/arms/milk")
    first = client.get("/v1/bandits/short/log?limit=2").json()
    rest = client.get("/v1/bandits/short/log", params={"after": first["last"]}).json()
    kinds = [event["kind"] for event in first["events"] + rest["events"]]
    assert kinds == ["created", "decided", "answered", "arm_added", "arm_retired"]
    event = first["events"][1]
    assert (event["id"], event["arm"], event["awake"], event["probabilities"]) == ("mine", made["arm"], ["tea"], [1.0])
    assert rest["events"][-1]["arm"] == "milk"
    assert client.get("/v1/bandits/short/log?after=5").json() == {"events": [], "last": 5}
    error_of(client.delete("/v1/bandits/short?events=4"), 409, "conflict")
    error_of(client.delete("/v1/bandits/short"), 422, "invalid")
    gone = client.delete("/v1/bandits/short", params={"events": rest["last"]})
    assert (gone.status_code, gone.content) == (204, b"")
    error_of(client.get("/v1/bandits/short"), 404, "not_found")


def test_health_says_that_the_store_answers(client: httpx.Client) -> None:
    assert client.get("/health").json()["status"] == "ready"
    assert client.get("/health").json()["store"] == "sqlite"


def test_every_answer_has_security_headers_and_none_lets_other_origins_in(client: httpx.Client) -> None:
    for answer in (
        client.get("/v1/bandits", headers={"origin": "https://evil.example"}),
        client.get("/nowhere"),
        client.post("/v1/bandits"),
        client.get("/metrics"),
        client.options("/v1/bandits"),
        client.post("/v1/bandits/drinks/decisions", json={}),
        client.post("/v1/bandits/drinks/decisions", content=b"{"),
    ):
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert not [name for name in answer.headers if name.startswith("access-control")]
    assert "frame-ancestors 'none'" in client.get("/v1/bandits").headers["content-security-policy"]


def test_other_methods_and_paths(client: httpx.Client) -> None:
    wrong = client.post("/v1/bandits")
    error_of(wrong, 405, "method_not_allowed")
    assert wrong.headers["allow"] == "GET, HEAD, OPTIONS"
    options = client.options("/v1/bandits/drinks")
    assert (options.status_code, options.headers["allow"]) == (204, "DELETE, GET, HEAD, PATCH, PUT, OPTIONS")
    head = client.head("/v1/bandits/drinks")
    assert (head.status_code, head.content) == (200, b"")
    assert int(head.headers["content-length"]) > 100
    error_of(client.get("/v1/bandits/"), 404, "not_found")
    error_of(client.get("/V1/bandits"), 404, "not_found")
    error_of(client.get("/v1/bandits/drinks/decisions"), 405, "method_not_allowed")


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("a%2Fb", "without slashes"),
        ("a%00b", "without control characters"),
        ("a%0Ab", "without control characters"),
        ("%ff", "UTF-8"),
        ("a" * 201, "of 1 to 200 characters"),
    ],
)
def test_a_bad_name_in_a_path_is_refused(client: httpx.Client, name: str, rule: str) -> None:
    for answer in (
        client.get(f"/v1/bandits/{name}"),
        client.put(f"/v1/bandits/{name}", json={"arms": ["a"]}),
        client.post(f"/v1/bandits/{name}/decisions", json={}),
    ):
        problem = error_of(answer, 422, "invalid")
        assert problem["field"] == "name"
        assert rule in problem["message"]


def test_a_name_of_any_alphabet_is_a_name(client: httpx.Client) -> None:
    made = new_bandit(client, "caf%C3%A9%20%F0%9F%8D%B5%25")
    assert made["name"] == "café 🍵%"
    assert client.post("/v1/bandits/caf%C3%A9%20%F0%9F%8D%B5%25/decisions", json={}).status_code == 201


def test_arms_must_have_names_that_can_be_seen(client: httpx.Client) -> None:
    answer = client.put("/v1/bandits/unseen", json={"arms": ["a", "b\n"]})
    assert error_of(answer, 422, "invalid")["field"] == "arms[1]"
    error_of(client.post("/v1/bandits/drinks/arms", json={"name": "\x00"}), 422, "invalid")


def test_pages_of_other_origins_are_let_in_if_a_setting_says_so(tmp_path: Path) -> None:
    with connected(tmp_path, origins=("https://shop.example",)) as client:
        asks = {"origin": "https://shop.example", "access-control-request-method": "POST"}
        answer = client.options("/v1/bandits/x/decisions", headers=asks)
        assert answer.headers["access-control-allow-origin"] == "https://shop.example"
        other = client.get("/health", headers={"origin": "https://evil.example"})
        assert "access-control-allow-origin" not in other.headers
        refused = client.options("/v1/bandits/x/decisions", headers={**asks, "origin": "https://evil.example"})
        assert error_of(refused, 400, "bad_request")["field"] == "Origin"
        assert "access-control-allow-origin" not in refused.headers


def test_a_field_with_a_very_long_name_is_not_sent_back_whole(client: httpx.Client) -> None:
    answer = client.put("/v1/bandits/long", json={"arms": ["a"], "y" * 100_000: 1})
    assert error_of(answer, 422, "invalid")["field"].startswith("yyy")
    assert len(answer.content) < 5_000


def test_the_two_hot_routes_are_in_the_table() -> None:
    hot = {operation.path for operation in OPERATIONS if operation.method == "POST"}
    assert {"/v1/bandits/{name}/decisions", "/v1/bandits/{name}/decisions/{id}/feedback"} <= hot

"""The clients in Python against a real service, which asks for tokens and is killed and started again."""

import asyncio
import inspect
import json
import pickle
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import wakeful as wk
from lossy_proxy import Passed, proxied
from service_load import Served, free_port, served
from wakeful.service.client import Conflict, Denied, Failed, Invalid, NotFound, ServiceError, Unavailable
from wakeful.service.client.decisions import RemoteDecision, RemoteDuel
from wakeful.service.client.remote import lists_of
from wakeful.service.client.remote_bandits import (
    AsyncRemoteBandit,
    AsyncRemoteDuelingBandit,
    RemoteBandit,
    RemoteDuelingBandit,
)

TOKEN, NARROW = "all-0123456789abcdef", "few-0123456789abcdef"
PATIENT = 240.0  # seconds: a new machine compiles first
ARMS = ["tea", "coffee", "juice"]
LOG: dict[str, list[Any]] = {
    "awake": ["tea|juice", "tea|coffee|juice", "coffee|juice"] * 5,
    "arm": ["tea", "coffee", "juice"] * 5,
    "loss": [0.0, 0.25, 1.0, 0.5, 0.75] * 3,
    "probability": [0.5, 0.25, 0.75] * 5,
}
DUELS = [("a", "b", "a"), ("a", "c", "tie"), ("b", "c", "right"), ("c", "a", "left")] * 3


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("service")
    tokens = folder / "tokens"
    tokens.write_text(f"{TOKEN}\n{NARROW} decide feedback\n")
    tokens.chmod(0o600)
    options = ["--token-file", str(tokens)]
    with served(str(folder / "wakeful.db"), options=options, log=folder / "service.log") as running:
        yield running


@pytest.fixture(scope="module")
def client(service: Served) -> Iterator[wk.Client]:
    with wk.Client(address_of(service), token=TOKEN, timeout=PATIENT) as made:
        yield made


def address_of(service: Served) -> str:
    return f"http://127.0.0.1:{service.port}"


def new_shop(client: wk.Client, name: str, **settings: Any) -> RemoteBandit:
    return client.bandit(name, ARMS, policy="SIExp3", seed=7, **settings)


def test_a_decision_and_its_feedback(client: wk.Client) -> None:
    shop = client.bandit("drinks", ARMS, policy=wk.SIExp3(eta=0.5), seed=7)
    decision = shop.choose(["tea", "juice"])
    assert decision.arm in {"tea", "juice"}
    assert decision.probability == 0.5
    assert shop.update(decision, loss=0.25) == "counted"
    assert shop.update(decision, reward=0.75) == "known"
    state = shop.state()
    assert (state.policy, state.parameters["eta"], state.decisions, state.feedback) == ("SIExp3", 0.5, 1, 1)
    assert shop.rounds == 1
    assert shop.decision(decision).state == "answered"
    assert {bandit.name for bandit in client.bandits()} >= {"drinks"}


def test_opening_the_same_bandit_again_changes_nothing_and_another_one_is_a_conflict(client: wk.Client) -> None:
    new_shop(client, "again").choose()
    assert new_shop(client, "again").rounds == 1
    with pytest.raises(
        Conflict, match="a different bandit has the name 'again': policy must be 'SIExp3', as it"
    ) as caught:
        client.bandit("again", ["tea"])
    assert (caught.value.code, caught.value.status, caught.value.field) == ("conflict", 409, "policy")


def test_feedback_may_come_from_another_process(client: wk.Client, service: Served) -> None:
    shop = new_shop(client, "processes")
    decisions = [shop.choose() for _ in range(3)]
    sent = json.dumps([decision.to_dict() for decision in decisions])
    assert [RemoteDecision.from_dict(record) for record in json.loads(sent)] == decisions
    with wk.Client(address_of(service), token=NARROW) as other:
        there = other.bandit("processes")
        assert there.update(json.loads(sent)[0], loss=0.5) == "counted"
        assert there.update(decisions[1].id, loss=0.5) == "counted"
        assert there.update(pickle.loads(pickle.dumps(decisions[2])), loss=0.5) == "counted"
    assert shop.state().pending == 0


def test_an_id_of_ones_own_gives_the_same_decision(client: wk.Client) -> None:
    shop = new_shop(client, "own ids")
    first = shop.choose(ARMS, id="order 17?a")
    assert first.id == "order 17?a"
    assert shop.choose(ARMS, id="order 17?a") == first
    assert shop.rounds == 1
    assert shop.update("order 17?a", loss=0.5) == "counted"
    with pytest.raises(Conflict, match="another awake set"):
        shop.choose(["tea"], id="order 17?a")
    with pytest.raises(Invalid, match="without slashes"):  # its feedback would have no path
        shop.choose(ARMS, id="order 17/a")


def test_reports_explanations_and_gains_are_those_of_the_library(client: wk.Client) -> None:
    shop, local = new_shop(client, "learner"), wk.Bandit(wk.SIExp3(), ARMS)
    assert shop.learn(LOG) == 15
    local.learn(LOG)
    assert shop.probabilities(["tea", "juice"]).tolist() == local.probabilities(["tea", "juice"]).tolist()
    assert str(shop.report(0.9)) == str(local.report(0.9))
    assert shop.report().to_html() == local.report().to_html()
    here, there = shop.switch_gains(), local.switch_gains()
    assert here.arms == there.arms
    assert np.array_equal(here, there)
    assert np.array_equal(here.errors, there.errors)  # type: ignore[arg-type]  # the whole array has them
    decision = shop.choose(["tea", "juice"])
    found = shop.explain(decision, level=0.9)
    assert (found.id, found.arm, found.probability) == (decision.id, decision.arm, decision.probability)
    assert {arm.arm for arm in found.arms} == {"tea", "juice"}
    assert str(found).startswith(f"Decision 16: '{decision.arm}'")
    assert "90 % from" in str(found)


def test_rankings_and_wins_are_those_of_the_library(client: wk.Client) -> None:
    arena = client.dueling_bandit("learned", ["a", "b"], policy=wk.UniformPairs())
    local = wk.DuelingBandit(wk.UniformPairs(), ["a", "b"])
    there, here = arena.learn(DUELS, unknown_arms="add"), local.learn(DUELS, unknown_arms="add")
    assert there == here == (12, (), ("c",), 0)
    assert np.array_equal(arena.win_matrix(), local.win_matrix())
    for scale in ("log", "elo"):
        assert repr(arena.ranking(scale=scale)) == repr(local.ranking(scale=scale))
    found, expected = arena.ranking(level=0.9), local.ranking(level=0.9)
    assert list(found) == list(expected)
    assert (found.side_effect, found.tie_rate, found.notes) == (expected.side_effect, expected.tie_rate, expected.notes)
    assert found.to_csv() == expected.to_csv()


def test_a_duel(client: wk.Client) -> None:
    arena = client.dueling_bandit("arena", ["a", "b", "c"], policy="UniformPairs", seed=1)
    duel = arena.choose(["a", "b"], distinct=True, group="code")
    assert {duel.left, duel.right} == {"a", "b"}
    assert arena.update(duel, winner=duel.left) == "counted"
    assert RemoteDuel.from_dict(duel.to_dict()) == duel
    assert arena.duel(duel).group == "code"
    rest = arena.choose_many([["a", "c"], None], distinct=True)
    assert arena.update_many(rest, winners=["tie", "right"]) == ["counted", "counted"]
    arena.record("a", "b", "a", group="code")
    assert arena.win_matrix().sum() == 4.0
    assert arena.ranking(group="code")[0].arm in {"a", "b"}
    pair = arena.choose(pairs=[("b", "c")])
    assert {pair.left, pair.right} == {"b", "c"}
    apart = arena.choose(groups={"a": "x", "b": "x", "c": "y"}, id="mine")
    assert "c" in {apart.left, apart.right}
    with pytest.raises(TypeError, match="winner must be the name of an arm"):
        arena.update(duel, winner=1.0)  # type: ignore[arg-type]


def test_arms_come_and_go(client: wk.Client) -> None:
    shop = new_shop(client, "arms")
    assert shop.add_arm("hot/cold") == "hot/cold"
    assert shop.ensure_arms(["tea", "water", "water"]) == ("water",)
    assert shop.arms == (*ARMS, "hot/cold", "water")
    shop.retire_arm("hot/cold")
    assert list(shop.retired) == ["hot/cold"]
    assert shop.probabilities()[3] == 0.0
    shop.revive_arm("hot/cold")
    assert list(shop.retired) == []
    with pytest.raises(NotFound, match=r"name must be one of this bandit's arms, got 'te' \(did you mean 'tea'\?\)"):
        shop.revive_arm("te")
    with pytest.raises(NotFound, match="arm must be one of this bandit's arms, got 'te'"):
        shop.retire_arm("te")
    assert shop.arms == (*ARMS, "hot/cold", "water")


def test_settings_can_be_changed(client: wk.Client) -> None:
    shop = new_shop(client, "waiting", wait=1e-6, default_loss=1.0)
    late = shop.choose()
    time.sleep(0.01)
    assert shop.update(late, loss=0.0) == "late"
    assert shop.configure(wait=None).wait is None
    assert shop.state().default_loss == 1.0
    assert shop.update(shop.choose(), loss=0.0) == "counted"


def test_many_at_once(client: wk.Client) -> None:
    shop = new_shop(client, "many")
    decisions = shop.choose_many([None, ["tea"], *[["tea", "juice"]] * 1_010])
    assert len({decision.id for decision in decisions}) == shop.rounds == 1_012
    assert decisions[1].arm == "tea"
    statuses = shop.update_many(decisions, losses=[0.5] * 1_012)
    assert statuses == ["counted"] * 1_012
    assert shop.update_many([decisions[0], decisions[1].id], rewards=[0.5, 0.5]) == ["known", "known"]
    for wrong in ({}, {"losses": [0.5], "rewards": [0.5]}):
        with pytest.raises(ValueError, match="feedback must be exactly one of losses and rewards"):
            shop.update_many(decisions[:1], **wrong)


def test_of_many_the_refused_ones_are_told_and_the_others_kept(client: wk.Client) -> None:
    shop = new_shop(client, "partly")
    with pytest.raises(Invalid, match=r"^1 of 3 were refused, the first at position 1: awake must be among") as caught:
        shop.choose_many([["tea"], ["milk"], ["juice"]])
    tea, milk, juice = caught.value.results
    assert (tea.arm, juice.arm) == ("tea", "juice")
    assert isinstance(milk, Invalid)
    with pytest.raises(NotFound, match="1 of 2 were refused, the first at position 0") as told:
        shop.update_many(["d999", tea], losses=[0.5, 0.5])
    assert told.value.results[1] == "counted"


@pytest.mark.parametrize(
    ("call", "kind", "sentence"),
    [
        (lambda shop: shop.choose(["milk"]), Invalid, "awake must be among the arms"),
        (lambda shop: shop.choose([]), Invalid, "awake must be a list of 1 to 2,000 items"),
        (lambda shop: shop.choose("tea"), TypeError, "awake must be a list of names, got 'tea'"),
        (lambda shop: shop.choose([True, False]), TypeError, "awake must be a list of names, got "),
        (lambda shop: shop.choose(id="d7"), Invalid, "id must be other than 'd' and digits"),
        (lambda shop: shop.update("d999", loss=0.5), NotFound, "id must be that of a decision"),
        (lambda shop: shop.update("d2", loss=1.5), ValueError, "loss must be a number between 0 and 1, got 1.5"),
        (lambda shop: shop.update("d2"), ValueError, "feedback must be exactly one of loss and reward"),
        (lambda shop: shop.update(7, loss=0.5), TypeError, "decision must be what choose returned"),
        (lambda shop: shop.update({}, loss=0.5), TypeError, "decision must be what choose returned"),
        (lambda shop: shop.report(level=1.5), Invalid, "level must be a number between 0 and 1"),
        (
            lambda shop: shop.learn({**LOG, "arm": ["milk", *LOG["arm"][1:]]}),
            ValueError,
            "arm must be one of the arms that are awake",
        ),
        (lambda shop: shop.learn({"awake": ["tea|milk"], "arm": ["tea"], "loss": [0]}), ValueError, "unknown_arms="),
        (lambda shop: shop.record("milk", probability=1.0, loss=0.5), Invalid, "arm must be one of this bandit's arms"),
    ],
)
def test_wrong_use_is_refused_in_one_sentence_and_changes_nothing(
    client: wk.Client, call: Callable[[Any], Any], kind: type[Exception], sentence: str
) -> None:
    shop = new_shop(client, "wrong use")
    before = shop.state().events
    with pytest.raises(kind, match=sentence):
        call(shop)
    assert shop.state().events == before


def test_bandits_of_the_other_kind_say_so(client: wk.Client) -> None:
    new_shop(client, "single")
    client.dueling_bandit("pairs", ["a", "b"], policy="UniformPairs")
    with pytest.raises(Invalid, match="open it with bandit instead"):
        client.dueling_bandit("single").choose()
    with pytest.raises(Invalid, match="open it with dueling_bandit instead"):
        client.bandit("pairs").choose()
    with pytest.raises(Invalid, match="policy must be"):
        client.bandit("other", ["a"], policy=wk.UniformPairs())
    with pytest.raises(TypeError, match="policy must be a policy such as"):
        client.bandit("other", ["a"], policy=7)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="arms must be a list of names, to make a bandit with settings, got None"):
        client.bandit("other", seed=7)


def test_tokens_decide_what_is_allowed_and_are_never_shown(service: Served) -> None:
    with wk.Client(address_of(service)) as nobody, pytest.raises(Denied, match="token that is known") as caught:
        nobody.bandit("secrets", ARMS)
    assert (caught.value.status, caught.value.code) == (401, "unauthorized")
    with wk.Client(address_of(service), token=NARROW) as narrow:
        with pytest.raises(Denied, match="with the scope 'admin'") as denied:
            narrow.bandit("secrets", ARMS)
        assert denied.value.status == 403
        for shown in (repr(narrow), repr(narrow.bandit("secrets")), str(denied.value), repr(denied.value)):
            assert "0123456789abcdef" not in shown
    for wrong in ("with space", "line\nbreak", "", "ä", 7):
        with pytest.raises(ValueError, match=r"^token must be visible characters of ASCII without spaces$"):
            wk.Client(address_of(service), token=wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("wrong", ["127.0.0.1:8000", "ftp://host", "http://", "http://me:secret@host", "http://a b", 7])
def test_the_address_is_checked_and_shows_no_password(wrong: Any) -> None:
    for kind in (wk.Client, wk.AsyncClient):
        with pytest.raises(ValueError, match="address must be the address of a service, such as") as caught:
            kind(wrong)
        assert "secret" not in str(caught.value)


@pytest.mark.parametrize(("field", "wrong"), [("timeout", 0), ("timeout", "1"), ("retries", -1), ("retries", 1.5)])
def test_limits_are_checked(field: str, wrong: Any) -> None:
    with pytest.raises((ValueError, TypeError), match=f"{field} must be"):
        wk.Client("http://127.0.0.1", **{field: wrong})


def test_a_service_that_dies_after_deciding_gives_the_same_decision_to_the_retry(
    client: wk.Client, service: Served
) -> None:
    shop = new_shop(client, "crash")
    lost: list[Passed] = []

    def lose_the_first(passed: Passed) -> Passed | None:
        if passed.method == "POST" and len(lost) < 2 and (not lost or "feedback" in passed.path):
            lost.append(passed)
            service.kill()
            service.start()
            return None
        return passed

    with proxied(service.port, lose_the_first) as address, wk.Client(address, token=TOKEN, timeout=PATIENT) as shaky:
        decision = shaky.bandit("crash").choose(["tea", "juice"])
        assert decision.to_dict() == json.loads(lost[0].answer)
        assert shaky.bandit("crash").update(decision, loss=0.5) == "known"
    state = shop.state()
    assert (state.decisions, state.feedback) == (1, 1)
    assert len(lost) == 2


def test_records_are_not_sent_again_when_it_is_not_known_whether_they_were_learned(
    client: wk.Client, service: Served
) -> None:
    shop = new_shop(client, "records")
    seen: list[Passed] = []

    def lose(passed: Passed) -> None:
        seen.append(passed)

    with (
        proxied(service.port, lose) as address,
        wk.Client(address, token=TOKEN, timeout=PATIENT) as shaky,
        pytest.raises(Unavailable, match=r"after 1 try .* whether it was carried out is not known$"),
    ):
        shaky.bandit("records").record("tea", awake=["tea", "juice"], probability=0.5, loss=0.5)
    assert len(seen) == 1
    assert shop.report().decisions == 1


def test_a_log_is_learned_in_parts_and_the_error_says_how_many_were(client: wk.Client, service: Served) -> None:
    shop = new_shop(client, "parts")
    seen: list[Passed] = []

    def fail_the_second(passed: Passed) -> Passed:
        seen.append(passed)
        return passed._replace(status=502, answer=b"") if len(seen) == 3 else passed  # after the arms and one part

    log = {name: values * 140 for name, values in LOG.items()}
    with (
        proxied(service.port, fail_the_second) as address,
        wk.Client(address, token=TOKEN, timeout=PATIENT) as shaky,
        pytest.raises(Unavailable, match="status 502") as caught,
    ):
        shaky.bandit("parts").learn(log)
    assert caught.value.__notes__ == ["1,000 records before these were learned"]
    assert [len(json.loads(one.body)["records"]) for one in seen if one.body] == [1_000, 1_000]
    assert shop.report().decisions == 2_000


def test_no_request_is_longer_than_the_service_takes() -> None:
    parts = list(lists_of("items", ["x" * 200_000] * 5))
    assert [many for many, _ in parts] == [2, 2, 1]
    assert all(len(body) < 500_000 and len(json.loads(body)["items"]) == many for many, body in parts)
    assert [many for many, _ in lists_of("items", range(2_001))] == [1_000, 1_000, 1]
    assert list(lists_of("items", [])) == []


def test_numbers_of_numpy_are_numbers_and_those_that_json_does_not_have_are_refused(client: wk.Client) -> None:
    shop = client.bandit("numbers", ARMS, policy="SIExp3", seed=np.int64(7))  # type: ignore[arg-type]
    assert shop.update(shop.choose(np.array(["tea", "juice"])), loss=np.float64(0.5)) == "counted"
    shop.record("tea", awake=["tea", "juice"], probability=np.float64(0.5), loss=np.float64(1))
    for wrong in (float("nan"), float("inf")):
        with pytest.raises(ValueError, match="wait must be finite"):
            shop.configure(wait=wrong)
        with pytest.raises(ValueError, match="default_loss must be finite"):
            client.bandit("numbers", ARMS, default_loss=wrong)
        with pytest.raises(ValueError, match="probability must be a number above 0"):
            shop.record("tea", probability=wrong, loss=0.5)
    with pytest.raises(TypeError, match="values in a request must be"):
        client.bandit("numbers", ARMS, seed=1j)  # type: ignore[arg-type]


def test_a_busy_service_is_asked_again_after_the_time_that_it_names(client: wk.Client, service: Served) -> None:
    new_shop(client, "busy")
    times: list[float] = []
    busy = b'{"error": {"code": "unavailable", "message": "too many requests are waiting", "field": null}}'

    def refuse_once(passed: Passed) -> Passed:
        times.append(time.monotonic())
        if len(times) == 1:
            return passed._replace(status=503, answer=busy, headers={"Retry-After": "1"})
        return passed

    with proxied(service.port, refuse_once) as address, wk.Client(address, token=TOKEN) as shaky:
        shaky.bandit("busy").choose()
        assert 1.0 <= times[1] - times[0] < 5.0
    times.clear()
    with (
        proxied(service.port, refuse_once) as address,
        wk.Client(address, token=TOKEN, timeout=0.9) as hasty,
        pytest.raises(Unavailable, match=r"^too many requests are waiting$"),
    ):
        hasty.bandit("busy").choose()
    assert len(times) == 1


def test_parts_of_a_batch_that_found_the_service_busy_are_asked_again(client: wk.Client, service: Served) -> None:
    shop = new_shop(client, "busy batch")
    seen: list[Passed] = []
    part = {"status": 503, "error": {"code": "unavailable", "message": "the store failed", "field": None}}

    def refuse_once(passed: Passed) -> Passed:
        seen.append(passed)
        found = json.loads(passed.answer)
        found["decisions"][1] = part
        return passed._replace(answer=json.dumps(found).encode()) if len(seen) == 1 else passed

    with proxied(service.port, refuse_once) as address, wk.Client(address, token=TOKEN) as shaky:
        decisions = shaky.bandit("busy batch").choose_many([None, None])
    assert len(seen) == 2
    assert len({decision.id for decision in decisions}) == shop.rounds == 2


def test_answers_of_another_server_are_no_decisions(client: wk.Client, service: Served) -> None:
    new_shop(client, "other server")

    def other(passed: Passed) -> Passed:
        return passed._replace(status=200, answer=b"<html>hello</html>")

    with (
        proxied(service.port, other) as address,
        wk.Client(address, token=TOKEN) as shaky,
        pytest.raises(Failed, match=r"the answer to POST /v1/bandits/.* must be the service's: "),
    ):
        shaky.bandit("other server").choose()


def test_nobody_there_is_one_clear_sentence() -> None:
    port = free_port()
    rule = f"^no answer from http://127.0.0.1:{port} after 3 tries in 0.[0-9] seconds: Connection refused$"
    with wk.Client(f"http://127.0.0.1:{port}", retries=2) as client, pytest.raises(Unavailable, match=rule):
        client.bandit("nobody").choose()

    async def ask() -> None:
        async with wk.AsyncClient(f"http://127.0.0.1:{port}", retries=2) as waiting:
            await (await waiting.bandit("nobody")).choose()

    with pytest.raises(Unavailable, match=rule):
        asyncio.run(ask())


def test_a_service_that_never_answers_is_given_up_in_time() -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen(20)
        begin = time.monotonic()
        with (
            wk.Client(f"http://127.0.0.1:{silent.getsockname()[1]}", timeout=1.0) as client,
            pytest.raises(Unavailable, match=r"nothing came within 0.[0-9] seconds"),
        ):
            client.bandit("silent").choose()
        assert time.monotonic() - begin < 20  # not the 30 seconds of the default


def test_fifty_decisions_at_once(client: wk.Client, service: Served) -> None:
    shop = new_shop(client, "concurrent")

    async def work() -> set[str]:
        async with wk.AsyncClient(address_of(service), token=TOKEN, timeout=PATIENT) as waiting:
            there = await waiting.bandit("concurrent", ARMS, policy=wk.SIExp3(), seed=7)
            decisions = await asyncio.gather(*(there.choose(["tea", "juice"]) for _ in range(50)))
            statuses = await asyncio.gather(*(there.update(decision, reward=1) for decision in decisions))
            assert statuses == ["counted"] * 50
            assert await there.arms == tuple(ARMS)
            assert await there.retired == ()
            assert await there.rounds == 50
            assert "concurrent" in repr(there)
            assert len(await waiting.bandits()) > 1
            arena = await waiting.dueling_bandit("awaited", ["a", "b"], policy="UniformPairs")
            assert await arena.update(await arena.choose(), winner="left") == "counted"
            with pytest.raises(Conflict):
                await there.update(decisions[0], loss=1)
            return {decision.id for decision in decisions}

    assert len(asyncio.run(work())) == 50
    assert shop.state().feedback == 50


def test_threads_share_a_client(client: wk.Client) -> None:
    shop = new_shop(client, "threads")
    problems: list[Exception] = []

    def work() -> None:
        try:
            for _ in range(10):
                shop.update(shop.choose(), loss=0.5)
        except ServiceError as problem:
            problems.append(problem)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []
    assert shop.state().feedback == 80


@pytest.mark.parametrize(
    ("remote", "waiting", "local"),
    [(RemoteBandit, AsyncRemoteBandit, wk.Bandit), (RemoteDuelingBandit, AsyncRemoteDuelingBandit, wk.DuelingBandit)],
)
def test_both_clients_have_the_methods_of_the_library(remote: type, waiting: type, local: type) -> None:
    own = {name for name in dir(remote) if not name.startswith("_")}
    assert own == {name for name in dir(waiting) if not name.startswith("_")}
    only_here = {"ask", "choose_many", "update_many", "configure", "decision", "duel"}
    assert {name for name in own if not hasattr(local, name)} <= only_here
    for name in own & set(dir(local)) - {"state"}:
        mine, theirs = getattr(remote, name), getattr(local, name)
        if callable(mine):
            assert set(inspect.signature(mine).parameters) - {"id"} <= set(inspect.signature(theirs).parameters), name


def test_without_the_extra_one_sentence_names_it() -> None:
    script = """
import sys
sys.modules["httpx"] = None
from wakeful import *
try:
    Client("http://127.0.0.1:8000")
except ImportError as problem:
    print(problem)
"""
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    sentence = "the clients need the extra 'service': pip install 'wakeful[service]' (import of httpx halted"
    assert found.stdout.startswith(sentence)


def test_names_that_look_like_paths_are_names(client: wk.Client, tmp_path: Path) -> None:
    for name in ("...", "a b?c#d%", "ñandú"):
        new_shop(client, name)
        assert client.bandit(name).state().name == name
    for name in ("..", "."):
        with pytest.raises(Invalid, match="name must be other than"):
            new_shop(client, name)

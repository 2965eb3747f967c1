"""A service under load whose clock jumps back an hour and forth again, and what its log must be like afterwards."""

import random
import sys
import time
from pathlib import Path

import jumping_clock
from service_load import Clients, Say, Served, call, check, create, silently, verify
from wakeful.service.stores import open_store

HOUR = 3600.0
WAIT = HOUR / 2  # for feedback: no decision may have waited so long, whatever the clock says


def clock_jumps(url: str, times: int, *, seed: int, folder: Path, say: Say = silently) -> int:
    """Let the clock jump so often, with a crash after each third jump; return the events that were logged."""
    rng, clock = random.Random(seed), jumping_clock.Clock(folder / "ahead")
    before = [sys.executable, jumping_clock.__file__, str(folder / "ahead")]
    service = Served(url, log=folder / "service.log", before=before)
    try:
        service.start()
        create(service.port, "shop", "bandit", wait=WAIT, default_loss=1.0)
        with Clients([service.port], "shop", "bandit", 4, seed) as clients:
            for n in range(times):
                ahead = -HOUR * ((n + 1) % 2)
                clock.set(ahead)
                if n % 3 == 2:
                    service.kill()
                    service.start()
                made = create(service.port, f"made-{n}", "bandit")["created"]
                assert abs(made - time.time() - ahead) < HOUR / 4, "the clock of the service did not jump"
                say(f"{n} of {times} jumps, {len(clients.journal.decided):,} decisions")
                time.sleep(rng.uniform(0.2, 1.0))
        state = call(service.port, "GET", "/v1/bandits/shop")[1]
        assert (state["expired"], state["late"]) == (0, 0), state
    finally:
        service.end()
    check_times(url, "shop")
    verify(url)
    return check(url, "shop", clients.journal)


def check_times(url: str, bandit: str) -> None:
    """Check that no event of a log is dated before the one in front of it."""
    store = open_store(url, reads_only=True)
    try:
        with store.transaction(writes=False):
            row = store.row(bandit)
            assert row is not None
            times = [item.event.time for item in store.entries(row, 0)]
    finally:
        store.close()
    assert times == sorted(times), "an event is dated before the one in front of it"

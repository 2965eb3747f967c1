"""What files and records from outside may ask for: refused before memory is taken, with limits that can be raised."""

import io
import json
import struct
import tracemalloc
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from wakeful import (
    Bandit,
    Duel,
    DuelingBandit,
    FixedOrdering,
    OrderingExp4,
    PerSet,
    Policy,
    SIExp3,
    SleepingExp3G,
    SleepingUCB,
    Sparring,
    Uniform,
    files,
)
from wakeful.limits import at_most, claim, state_bytes

SMALL = 2_000_000  # bytes: enough for any honest file here


def repacked(data: bytes, **changes: Any) -> bytes:
    """A correct file with another header."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    members[files.HEADER] = json.dumps({**json.loads(members[files.HEADER]), **changes}).encode()
    return zipped(members)


def zipped(members: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return file.getvalue()


def forged_policy(kind: str, **parameters: Any) -> bytes:
    return repacked(Bandit(Uniform(), 3).to_bytes(), policy={"policy": kind, "parameters": parameters})


INNER = {"policy": "SIExp3", "parameters": {}}
HUGE = 10**8


BOMBS: dict[str, bytes] = {
    "an array of zeros": zipped({files.HEADER: b"{}", "losses.npy": bytes(3 * SMALL)}),
    "many arrays": zipped({files.HEADER: b"{}", **{f"{n}.npy": bytes(SMALL // 10) for n in range(20)}}),
    "a header of lists": zipped({files.HEADER: b"[" + b"[]," * (SMALL // 10) + b"[]]"}),
    "another method": zipped({files.HEADER: b"{}", "losses.npy": bytes(10)}, zipfile.ZIP_BZIP2),
    "a long list of entries": zipped({f"{n:060}": b"" for n in range(10_500)}),
    "PerSet": forged_policy("PerSet", policy=INNER, max_sets=HUGE),
    "PerSet in PerSet": forged_policy(
        "PerSet", policy={"policy": "PerSet", "parameters": {"policy": INNER}}, max_sets=99
    ),
    "SleepingExp3G": forged_policy("SleepingExp3G", max_sets=10**10),
    "many arms": repacked(forged_policy("SIExp3"), arms=list(range(5_000))),
}


@pytest.mark.parametrize("data", BOMBS.values(), ids=BOMBS.keys())
def test_a_file_that_asks_for_much_memory_is_refused(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "b").write_bytes(data)
    with pytest.raises(ValueError, match=r"^data must be a wakeful bandit file.*(at most|stored or deflated)"):
        Bandit.from_bytes(data, max_bytes=SMALL)
    with pytest.raises(ValueError, match=r"^path must be a .*(at most|stored or deflated)"):
        Bandit.load(tmp_path / "b", max_bytes=SMALL)


def test_a_file_that_is_large_itself_is_refused_unread(tmp_path: Path) -> None:
    with (tmp_path / "b").open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(ValueError, match=r"path must be a file of at most 268,435,456 bytes \(max_bytes raises"):
        Bandit.load(tmp_path / "b")


def test_duels_too() -> None:
    arena = DuelingBandit(Sparring(SIExp3()), 3)
    sparring = {
        "policy": "Sparring",
        "parameters": {"policy": json.loads(json.dumps(PerSet(SIExp3(), HUGE).to_dict()))},
    }
    for change in ({"policy": sparring}, {"arms": list(range(5_000))}):
        with pytest.raises(ValueError, match="at most 2,000,000 bytes"):
            DuelingBandit.from_bytes(repacked(arena.to_bytes(), **change), max_bytes=SMALL)
    many = DuelingBandit(Sparring(SIExp3()), 60).to_bytes()
    with pytest.raises(ValueError, match="size must be such that a state takes at most 1,000,000 bytes"):
        DuelingBandit.from_bytes(repacked(many, size=60), max_bytes=1_000_000)


def test_records_too() -> None:
    record = Bandit(Uniform(), 3).to_record()
    record["policy"] = PerSet(SIExp3(), HUGE).to_dict()
    with pytest.raises(ValueError, match="max_sets must be such that a state takes at most 268,435,456 bytes"):
        Bandit.from_record(record)


def test_entries_with_the_same_name_are_refused() -> None:
    data = Bandit(Uniform(), 3).to_bytes()
    file = io.BytesIO(data)
    with pytest.warns(UserWarning, match="Duplicate name"), zipfile.ZipFile(file, "a") as archive:
        archive.writestr(files.HEADER, "{}")
    with pytest.raises(ValueError, match="entries must be different"):
        Bandit.from_bytes(file.getvalue())


def test_an_entry_that_unpacks_to_more_than_it_says_is_refused() -> None:
    data = bytearray(zipped({files.HEADER: b" " * 100_000}))
    directory = data.rindex(b"PK\1\2")
    data[directory + 24 : directory + 28] = struct.pack("<I", 10)  # the size that is checked
    with pytest.raises(ValueError, match="complete and unchanged"):
        Bandit.from_bytes(bytes(data), max_bytes=SMALL)


def test_a_caller_can_raise_the_limit() -> None:
    data = Bandit(SIExp3(), 100).to_bytes()
    with pytest.raises(
        ValueError, match=r"at most 50,000 bytes \(max_bytes raises the limit\)|at most 50,000 bytes in"
    ):
        Bandit.from_bytes(data, max_bytes=50_000)
    assert len(Bandit.from_bytes(data, max_bytes=500_000).arms) == 100
    for wrong in (0, -1, 1.5, None, True):
        with pytest.raises((ValueError, TypeError), match="max_bytes must be a number of bytes, at least 1"):
            Bandit.from_bytes(data, max_bytes=wrong)  # type: ignore[arg-type]


def test_without_a_file_there_is_no_limit() -> None:
    claim("max_sets", 3, 1 << 60)
    with at_most(10), pytest.raises(MemoryError, match="max_sets must be"):
        claim("max_sets", 3, 11)
    claim("max_sets", 3, 11)


@pytest.mark.parametrize("policy", [SIExp3(), SleepingUCB(), SleepingExp3G(), PerSet(SIExp3(), 5), Uniform()], ids=repr)
@pytest.mark.parametrize("n_arms", [1, 2, 3, 40])
def test_the_size_of_a_state_is_known_before_it_is_there(policy: Policy, n_arms: int) -> None:
    assert state_bytes(policy.start, n_arms) == sum(array.nbytes for array in policy.start(n_arms))


def test_policies_for_some_numbers_of_arms_are_loaded() -> None:
    for policy in (FixedOrdering((2, 0, 1, 3)), OrderingExp4()):
        bandit = Bandit(policy, 4, seed=0)
        assert Bandit.from_bytes(bandit.to_bytes()).policy == policy


def forged(n_arms: int, size: int) -> Duel:
    """A duel of so many arms that could have been another copy's."""
    laws = np.zeros((size, n_arms))
    names = []
    for m in range(size):
        laws[m, m:] = 1.0 / (n_arms - m)
        names.append(tuple(range(m, n_arms)))
    p = tuple(float(laws[m, m]) for m in range(size))
    return Duel(tuple(range(size)), p, tuple(names), laws, 1, (1.0,) * size)


def test_a_forged_duel_of_many_arms_takes_no_memory_before_it_is_refused() -> None:
    arena = DuelingBandit(Sparring(SIExp3()), 60, seed=0)
    arena.max_bytes = 1_000_000
    with pytest.raises(
        ValueError, match=r"duel\.arms must be few enough for a state of at most 1,000,000 bytes, not 1,"
    ):
        arena.update(forged(60, 60), winner=0)
    assert arena.state.inner_losses.shape == (2, 60, 60)
    assert not arena._rooms
    arena.max_bytes = 10_000_000
    arena.update(forged(60, 60), winner=0)
    assert arena.state.inner_losses.shape == (60, 60, 60)


def test_bombs_take_no_memory(tmp_path: Path) -> None:
    Bandit(SIExp3(), 3).save(tmp_path / "good")
    with zipfile.ZipFile(tmp_path / "zeros", "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr(files.HEADER, "{}")
        with archive.open("losses.npy", "w") as entry:
            for _ in range(300):
                entry.write(bytes(1 << 20))
    (tmp_path / "sets").write_bytes(BOMBS["PerSet"])
    (tmp_path / "arms").write_bytes(repacked(Bandit(SIExp3(), 3).to_bytes(), arms=list(range(20_000))))
    Bandit.load(tmp_path / "good")
    tracemalloc.start()
    try:
        for name in ("zeros", "sets", "arms"):
            with pytest.raises(ValueError, match="max_bytes"):
                Bandit.load(tmp_path / name)
        assert tracemalloc.get_traced_memory()[1] < 60_000_000
    finally:
        tracemalloc.stop()

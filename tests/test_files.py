"""Bandits on disk: whole or not at all, and nothing foreign comes in."""

import io
import itertools
import json
import os
import pickle
import shutil
import stat
import subprocess
import sys
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from case_ids import stable_id
from policy_cases import CASES
from wakeful import Bandit, Decision, DuelingBandit, Policy, SIExp3, SleepingUCB, Uniform, UniformPairs
from wakeful.files import HEADER

REFUSAL = r"^(path|policy|arms) must be .*, got "


def everything(bandit: Bandit) -> tuple[Any, ...]:
    """All that a bandit is, bit for bit."""
    state = tuple(array.tobytes() for array in bandit.state)
    return (bandit.policy, bandit.arms, bandit.retired, bandit.rounds, json.dumps(bandit._stream.state), state)


def trained(policy: Policy, rounds: int = 30) -> Bandit:
    bandit = Bandit(policy, ["tea", "coffee", "juice"], seed=1)
    for n in range(rounds):
        bandit.update(bandit.choose(["tea", "juice"] if n % 3 else None), loss=n % 5 / 4)
    return bandit


@pytest.fixture
def bandit() -> Bandit:
    return trained(SIExp3())


@pytest.fixture
def path(bandit: Bandit, tmp_path: Path) -> Path:
    """A saved bandit."""
    bandit.save(tmp_path / "drinks.wakeful")
    return tmp_path / "drinks.wakeful"


def npy(array: Any, **options: Any) -> bytes:
    file = io.BytesIO()
    np.lib.format.write_array(file, np.asanyarray(array), **options)
    return file.getvalue()


def contents(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def write(path: Path, members: Mapping[str, bytes]) -> None:
    """A correct zip file, whatever is in it."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)


@pytest.mark.parametrize("policy", [case.policy for case in CASES], ids=stable_id)
def test_what_is_loaded_is_what_was_saved_and_goes_on_the_same_way(policy: Policy, tmp_path: Path) -> None:
    bandit = trained(policy)
    pending = bandit.choose()
    bandit.add_arm("water")
    bandit.retire_arm("coffee")
    bandit.save(tmp_path / "b")
    loaded = Bandit.load(tmp_path / "b")
    assert everything(loaded) == everything(bandit)
    for one in (bandit, loaded):
        one.update(pending, loss=0.25)
        for n in range(300):
            one.update(one.choose(), loss=n % 3 / 2)
    assert everything(loaded) == everything(bandit)


@pytest.mark.parametrize("rounds", [0, 1, 255, 256, 257, 512])
def test_the_random_stream_goes_on_wherever_it_was(rounds: int, tmp_path: Path) -> None:
    bandit = trained(Uniform(), rounds)
    bandit.save(tmp_path / "b")
    loaded = Bandit.load(tmp_path / "b")
    assert [loaded.choose().arm for _ in range(600)] == [bandit.choose().arm for _ in range(600)]


def test_paths_are_strings_or_path_objects(bandit: Bandit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for path in ("b", str(tmp_path / "c"), tmp_path / "d", Path("é ü 茶")):
        bandit.save(path)
        assert everything(Bandit.load(path)) == everything(bandit)
    assert sorted(os.listdir(tmp_path)) == ["b", "c", "d", "é ü 茶"]


@pytest.mark.parametrize("path", [None, 3, 0.5, ["b"], object()], ids=stable_id)
def test_what_is_no_path_is_refused_as_a_type(path: Any, bandit: Bandit) -> None:
    with pytest.raises(TypeError):
        bandit.save(path)
    with pytest.raises(TypeError):
        Bandit.load(path)


def test_the_longest_name_the_system_takes_is_taken(bandit: Bandit, tmp_path: Path) -> None:
    name = "x" * os.pathconf(tmp_path, "PC_NAME_MAX")
    (tmp_path / name).touch()
    bandit.save(tmp_path / name)
    assert everything(Bandit.load(tmp_path / name)) == everything(bandit)


def test_a_missing_file_or_folder_is_the_systems_own_error(bandit: Bandit, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        Bandit.load(tmp_path / "b")
    with pytest.raises(FileNotFoundError):
        bandit.save(tmp_path / "no" / "b")
    with pytest.raises(IsADirectoryError):
        Bandit.load(tmp_path)
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match="folder"):
        bandit.save(tmp_path / "folder")
    assert os.listdir(tmp_path) == ["folder"]


@pytest.mark.parametrize("mask", [0o022, 0o027, 0o077, 0o002])
def test_permissions_follow_the_umask(mask: int, bandit: Bandit, tmp_path: Path) -> None:
    before = os.umask(mask)
    try:
        bandit.save(tmp_path / "b")
        assert os.umask(mask) == mask
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "b").stat().st_mode) == 0o666 & ~mask


def test_saving_through_a_symbolic_link_changes_the_file_behind_it(bandit: Bandit, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    real, link = tmp_path / "folder" / "real", tmp_path / "link"
    trained(SleepingUCB()).save(real)
    link.symlink_to(real)
    assert Bandit.load(link).policy == SleepingUCB()
    bandit.save(link)
    assert everything(Bandit.load(link)) == everything(bandit)
    assert link.is_symlink()
    assert everything(Bandit.load(real)) == everything(bandit)


@contextmanager
def nobody() -> Iterator[None]:
    """For the time being, a user to whom permissions apply."""
    user = os.geteuid()
    if user == 0:
        os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(user)


def test_a_folder_that_cannot_be_written_leaves_the_old_file(path: Path, bandit: Bandit) -> None:
    before = path.read_bytes()
    path.parent.chmod(0o555)
    bandit.choose()
    try:
        with nobody(), pytest.raises(PermissionError):
            bandit.save(path)
    finally:
        path.parent.chmod(0o755)
    assert os.listdir(path.parent) == [path.name]
    assert path.read_bytes() == before


@pytest.mark.parametrize("names", [[("a", 1), ("a", 2)], [0.5, 1.5], [b"tea", "coffee"]], ids=repr)
def test_names_that_a_file_cannot_hold_are_refused_when_the_bandit_is_made(names: list[Any]) -> None:
    with pytest.raises(TypeError, match=r"^arms must be strings or whole numbers, which files can hold, got "):
        Bandit(Uniform(), names)
    bandit = Bandit(Uniform(), ["tea"])
    with pytest.raises(TypeError, match=r"^name must be a string or a whole number, which files can hold, got "):
        bandit.add_arm(names[0])
    assert bandit.arms == ("tea",)


def test_a_name_with_too_many_digits_for_a_file_is_refused_when_the_bandit_is_made() -> None:
    rule = "must be whole numbers of at most 640 digits, got int with too many digits to show"
    with pytest.raises(ValueError, match=f"^arms {rule}"):
        Bandit(Uniform(), ["tea", 10**5000])
    bandit, arena = Bandit(Uniform(), ["tea"]), DuelingBandit(UniformPairs(), ["tea", "juice"])
    with pytest.raises(ValueError, match=f"^name {rule}"):
        bandit.add_arm(-(10**5000))
    with pytest.raises(ValueError, match=f"^row 1 of results: left {rule}"):
        arena.learn([(10**5000, "tea", "tie")], unknown_arms="add")
    with pytest.raises(ValueError, match=f"^group {rule}"):
        arena.record("tea", "juice", "tie", group=10**5000)
    with pytest.raises(ValueError, match=r"^loss must be a number between 0 and 1, got int with too many digits"):
        bandit.record("tea", loss=10**5000)
    assert (bandit.arms, arena.arms, bandit.rounds, arena.rounds) == (("tea",), ("tea", "juice"), 0, 0)


def test_names_of_any_language_and_size_come_back(tmp_path: Path) -> None:
    names = ["茶", "", " ", "\n", "\0", "a" * 10_000, 10**40, -1]
    Bandit(Uniform(), names, seed=0).save(tmp_path / "b")
    assert Bandit.load(tmp_path / "b").arms == tuple(names)


def test_every_truncation_is_refused(path: Path) -> None:
    data = path.read_bytes()
    for length in range(len(data)):
        path.write_bytes(data[:length])
        with pytest.raises(ValueError, match=REFUSAL):
            Bandit.load(path)


def test_every_flipped_bit_is_refused_or_harmless(path: Path) -> None:
    small = Bandit(Uniform(), 2, seed=0)
    small.update(small.choose(), loss=0.5)
    small.save(path)
    data, expected = path.read_bytes(), everything(small)
    wrong = {}
    for position, bit in itertools.product(range(len(data)), range(8)):
        flipped = bytearray(data)
        flipped[position] ^= 1 << bit
        path.write_bytes(flipped)
        try:
            found: Any = everything(Bandit.load(path))
        except Exception as problem:
            found = problem
        refused = isinstance(found, ValueError) and " must be " in str(found)
        if not refused and found != expected:
            wrong[position, bit] = repr(found)[:80]
    assert not wrong, f"{len(wrong)} flips, of these kinds: {sorted(set(wrong.values()))}"


FOREIGN: dict[str, bytes] = {
    "empty": b"",
    "text": b"tea, coffee, juice\n",
    "json": json.dumps({"kind": "wakeful bandit", "version": 1}).encode(),
    "pickle": pickle.dumps({"kind": "wakeful bandit"}),
    "npy": npy(np.zeros(3)),
    "zip end only": b"PK\5\6" + bytes(18),
    "zeros": bytes(4096),
    "ones": b"\xff" * 4096,
}


@pytest.mark.parametrize("data", FOREIGN.values(), ids=FOREIGN.keys())
def test_foreign_files_are_refused(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "b").write_bytes(data)
    with pytest.raises(ValueError, match=r"^path must be a wakeful bandit file, complete and unchanged, got .*b'"):
        Bandit.load(tmp_path / "b")


@pytest.mark.parametrize(
    "members",
    [
        {},
        {"readme.txt": b"hello"},
        {"losses.npy": npy(np.zeros((3, 3)))},
        {HEADER: b""},
        {HEADER: b"{"},
        {HEADER: b"[]"},
        {HEADER: b"null"},
        {HEADER: b"{}"},
        {HEADER: b'{"kind": "wakeful duel"}'},
        {HEADER: b'{"kind": "wakeful bandit"}'},
        {HEADER: b'{"kind": "wakeful bandit", "version": 1}'},
        {HEADER: b"\xff\xfe\xfa"},
        {HEADER: b"\x80\x04K\x01."},
        {HEADER: b"[" * 100_000},
        {HEADER: b'{"kind": ' * 100_000},
    ],
    ids=lambda members: repr(members)[:60],
)
def test_other_zip_files_are_refused(members: dict[str, bytes], tmp_path: Path) -> None:
    write(tmp_path / "b", members)
    with pytest.raises(ValueError, match=REFUSAL):
        Bandit.load(tmp_path / "b")


def test_the_arrays_of_somebody_else_are_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "b.npz", losses=np.zeros((3, 3)), clock=np.zeros(2, np.int64))
    with pytest.raises(ValueError, match=REFUSAL):
        Bandit.load(tmp_path / "b.npz")


class Trap:
    """An object whose unpickling makes a folder."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (self.folder,)


@pytest.mark.parametrize("field", ["losses", "clock", "another"])
def test_nothing_is_ever_unpickled(field: str, path: Path, tmp_path: Path) -> None:
    folder = str(tmp_path / "sprung")
    objects = np.empty((3, 3), object)
    objects[:] = Trap(folder)
    write(path, {**contents(path), f"{field}.npy": npy(objects, allow_pickle=True)})
    with pytest.raises(ValueError, match=REFUSAL):
        Bandit.load(path)
    assert not Path(folder).exists()


HEADERS: list[dict[str, Any]] = [
    {"version": 3},
    {"version": 0},
    {"version": "1"},
    {"version": None},
    {"version": [1]},
    {"kind": None},
    {"kind": "wakeful duel"},
    {"policy": None},
    {"policy": "SIExp3"},
    {"policy": {}},
    {"policy": {"policy": "SIExp4", "parameters": {}}},
    {"policy": {"policy": "SleepingUCB", "parameters": {}}},
    {"policy": {"policy": ["SIExp3"], "parameters": {}}},
    {"policy": {"policy": "SIExp3", "parameters": []}},
    {"policy": {"policy": "SIExp3", "parameters": {"eta": -1}}},
    {"policy": {"policy": "SIExp3", "parameters": {"etta": 1}}},
    {"policy": {"policy": "PerSet", "parameters": {}}},
    {"policy": {"policy": "somebody.Policy", "parameters": {}}},
    {"arms": None},
    {"arms": []},
    {"arms": 0},
    {"arms": -3},
    {"arms": "tea"},
    {"arms": ["tea", "coffee"]},
    {"arms": ["tea", "coffee", "juice", "water"]},
    {"arms": ["tea", "tea", "juice"]},
    {"arms": [["tea"], "coffee", "juice"]},
    {"arms": [True, False, None]},
    {"arms": {"tea": 1}},
    {"retired": None},
    {"retired": 0},
    {"retired": [3]},
    {"retired": [-1]},
    {"retired": [0.5]},
    {"retired": ["tea"]},
    {"retired": [True, False, True]},
    {"retired": [[0]]},
    {"retired": [0, 1, 2]},
    {"fewest_arms": None},
    {"fewest_arms": "3"},
    {"fewest_arms": 0},
    {"fewest_arms": 4},
    {"fewest_arms": 2.5},
    {"rounds": None},
    {"rounds": -1},
    {"rounds": 1.5},
    {"rounds": "30"},
    {"rounds": True},
    {"random": None},
    {"random": {}},
    {"random": []},
    {"random": {"bit_generator": "MT19937", "state": {}}},
    {"random": {"bit_generator": "PCG64", "state": {"state": -1, "inc": 1}, "has_uint32": 0, "uinteger": 0}},
    {"random": {"bit_generator": "PCG64", "state": {"state": 1 << 200, "inc": 1}, "has_uint32": 0, "uinteger": 0}},
    {"random": {"bit_generator": "PCG64", "state": {"state": "x", "inc": 1}, "has_uint32": 0, "uinteger": 0}},
]


@pytest.mark.parametrize("change", HEADERS, ids=lambda change: repr(change)[:80])
def test_a_header_that_says_something_else_is_refused(change: dict[str, Any], path: Path) -> None:
    members = contents(path)
    header = json.loads(members[HEADER])
    assert set(change) <= set(header)
    write(path, {**members, HEADER: json.dumps({**header, **change}).encode()})
    with pytest.raises((ValueError, TypeError), match=r"^\w+ must be .*, got "):
        Bandit.load(path)


@pytest.mark.parametrize("key", ["kind", "version", "policy", "arms", "retired", "fewest_arms", "rounds", "random"])
def test_a_header_that_lacks_something_is_refused(key: str, path: Path) -> None:
    members = contents(path)
    header = json.loads(members[HEADER])
    del header[key]
    write(path, {**members, HEADER: json.dumps(header).encode()})
    with pytest.raises(ValueError, match=r"^path must be .*, got "):
        Bandit.load(path)


def test_a_newer_version_is_refused_by_its_number(path: Path) -> None:
    members = contents(path)
    write(path, {**members, HEADER: members[HEADER].replace(b'"version": 2', b'"version": 12')})
    sentence = "path must be a file of a version this Wakeful can read, got .*: its version is 12, this is 2"
    with pytest.raises(ValueError, match=sentence):
        Bandit.load(path)


ARRAYS: dict[str, Any] = {
    "fewer arms": np.zeros((2, 2)),
    "more arms": np.zeros((4, 4)),
    "flat": np.zeros(9),
    "three dimensions": np.zeros((3, 3, 1)),
    "a number": np.array(0.0),
    "empty": np.zeros((0, 0)),
    "single precision": np.zeros((3, 3), np.float32),
    "whole numbers": np.zeros((3, 3), np.int64),
    "other byte order": np.zeros((3, 3), ">f8"),
    "complex": np.zeros((3, 3), np.complex128),
    "text": np.full((3, 3), "0"),
    "records": np.zeros((3, 3), [("x", np.float64)]),
    "dates": np.zeros((3, 3), "M8[s]"),
}


@pytest.mark.parametrize("array", ARRAYS.values(), ids=ARRAYS.keys())
def test_arrays_of_another_shape_or_type_are_refused(array: Any, path: Path) -> None:
    write(path, {**contents(path), "losses.npy": npy(array)})
    with pytest.raises(ValueError, match=REFUSAL):
        Bandit.load(path)


@pytest.mark.parametrize("field", ["losses", "clock"])
def test_a_missing_array_is_refused(field: str, path: Path) -> None:
    members = contents(path)
    del members[f"{field}.npy"]
    write(path, members)
    with pytest.raises(ValueError, match=REFUSAL):
        Bandit.load(path)


@pytest.mark.parametrize("name", ["more.npy", "losses.npy.npy", "notes.txt", "../losses.npy"])
def test_anything_more_than_the_arrays_is_refused(name: str, path: Path) -> None:
    write(path, {**contents(path), name: npy(np.zeros(2))})
    with pytest.raises(ValueError, match=REFUSAL):
        Bandit.load(path)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x93NUMPY",
        b"no array",
        npy(np.zeros((3, 3)))[:-1],
        npy(np.zeros((3, 3))).replace(b"(3, 3)", b"(3, 3"),
        npy(np.zeros((3, 3))).replace(b"(3, 3)", b"(-3,-3)"),
        npy(np.zeros((3, 3))).replace(b"(3, 3), } ", b"(3, 10**9)"),
        npy(np.zeros((3, 3))).replace(b"(3, 3), }            ", b"(999999, 999999999), }"),
        npy(np.zeros((3, 3))).replace(b"<f8", b"|O8"),
        npy(np.zeros((3, 3))).replace(b"<f8", b"???"),
        b"\x93NUMPY\x09\x00" + npy(np.zeros((3, 3)))[8:],
    ],
    ids=range(11),
)
def test_a_broken_array_is_refused(data: bytes, path: Path) -> None:
    write(path, {**contents(path), "losses.npy": data})
    with pytest.raises(ValueError, match=REFUSAL):
        Bandit.load(path)


def test_an_array_in_column_order_is_read_as_what_it_says(path: Path, bandit: Bandit) -> None:
    write(path, {**contents(path), "losses.npy": npy(np.asfortranarray(bandit.state.losses))})
    loaded = Bandit.load(path)
    np.testing.assert_array_equal(loaded.state.losses, bandit.state.losses)
    np.testing.assert_array_equal(loaded.probabilities(), bandit.probabilities())
    for one in (loaded, bandit):
        one.update(one.choose(), loss=0.5)
    np.testing.assert_array_equal(loaded.state.losses, bandit.state.losses)


def test_a_file_is_a_zip_of_plain_arrays_with_a_readable_header(path: Path, bandit: Bandit) -> None:
    members = contents(path)
    header = json.loads(members[HEADER])
    assert (header["kind"], header["version"], header["rounds"]) == ("wakeful bandit", 2, 30)
    losses = np.load(io.BytesIO(members["losses.npy"]), allow_pickle=False)
    np.testing.assert_array_equal(losses, bandit.state.losses)


KILLED = """
import sys
from pathlib import Path
from crashes import killed_at_every_line
from wakeful import Bandit, SIExp3, atomic, files

path = Path(sys.argv[1]) / "b"
bandits = {n: Bandit(SIExp3(), 30, seed=0) for n in (1, 2)}
for n, bandit in bandits.items():
    for _ in range(n):
        bandit.choose()
bandits[1].save(path)

def load():
    found = Bandit.load(path)
    assert found.rounds == found.state.clock[0], "half of one file and half of another"
    return found.rounds

watched = {atomic.__file__, files.__file__}
print(killed_at_every_line(lambda n: bandits[n].save(path), load, path.parent, watched))
"""


def test_a_process_killed_at_any_line_of_the_writer_leaves_a_whole_file(tmp_path: Path) -> None:
    command = [sys.executable, "-c", KILLED, str(tmp_path)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path])}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-500:]
    killed, old, new, rests = map(int, done.stdout.split())
    assert killed == old + new > 20
    assert min(old, new, rests) > 0, "some should die before the file is replaced, some after, some in between"


FULL = """
import os, sys
from pathlib import Path
import numpy as np
from wakeful import Bandit, SIExp3

folder, limit = Path(sys.argv[1]), int(sys.argv[2])
small, large = Bandit(SIExp3(), 3, seed=0), Bandit(SIExp3(), 150, seed=0)
large.state.losses[:] = np.random.default_rng(0).random((150, 150))
small.choose()
small.save(folder / "b")
before = (folder / "b").read_bytes()
if limit:
    import resource
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
try:
    large.save(folder / "b")
except OSError as problem:
    print(problem.strerror)
assert (folder / "b").read_bytes() == before
assert os.listdir(folder) == ["b"]
assert Bandit.load(folder / "b").rounds == 1
small.choose()
small.save(folder / "b")
assert Bandit.load(folder / "b").rounds == 2
"""


def test_a_file_that_may_not_grow_leaves_the_old_one_and_no_rest(tmp_path: Path) -> None:
    command = [sys.executable, "-c", FULL, str(tmp_path), "65536"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-500:]
    assert done.stdout == "File too large\n"


def own_disk(folder: Path, *command: str) -> list[str]:
    """The command to run `command` with a disk of 64 kB at `folder`, which is gone when it ends."""
    mount = f"mount -t tmpfs -o size=64k none '{folder}' && exec \"$@\""
    return ["unshare", "--mount", "--map-root-user", "sh", "-c", mount, "sh", *command]


def test_a_full_disk_leaves_the_old_file_and_no_rest(tmp_path: Path) -> None:
    if shutil.which("unshare") is None or subprocess.run(own_disk(tmp_path, "true"), check=False).returncode:
        pytest.skip("this system does not let us mount a disk of our own")
    command = own_disk(tmp_path, sys.executable, "-c", FULL, str(tmp_path), "0")
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-500:]
    assert done.stdout == "No space left on device\n"


def test_an_interrupt_while_saving_leaves_the_old_file(
    path: Path, bandit: Bandit, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = path.read_bytes()
    bandit.choose()

    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    for function in ("fsync", "replace"):
        with monkeypatch.context() as patch:
            patch.setattr(os, function, interrupt)
            with pytest.raises(KeyboardInterrupt):
                bandit.save(path)
        assert path.read_bytes() == before
        assert os.listdir(path.parent) == [path.name]
    bandit.save(path)
    assert Bandit.load(path).rounds == 31


def test_a_decision_made_before_saving_gets_its_feedback_after_loading_by_json(path: Path, bandit: Bandit) -> None:
    pending = bandit.choose()
    bandit.save(path)
    record = json.loads(json.dumps(pending.to_dict()))
    loaded = Bandit.load(path)
    for one in (bandit, loaded):
        one.update(Decision.from_dict(record), reward=0.25)
    assert everything(loaded) == everything(bandit)

"""A full disk under load, in a small file system of its own: `python service_disk.py FOLDER`, see `full_disk`."""

import subprocess
import sys
import time
from pathlib import Path

from service_load import Clients, call, check, create, served

SIZE = "4m"  # of the file system
BALLAST = 2_000_000  # bytes, which are freed when the disk has been full for a while


def full_disk(folder: Path) -> int:
    """Fill the disk until the service says 503, free some of it, and go on; return the events that were logged."""
    url = str(folder / "wakeful.db")
    with served(url, log=folder.parent / "service.log") as service:
        create(service.port, "shop", "bandit")
        ballast = folder / "ballast"
        ballast.write_bytes(b"x" * BALLAST)
        fill = folder / "fill"
        with Clients([service.port], "shop", "bandit", 4, seed=1) as clients:
            time.sleep(0.5)
            with fill.open("wb", buffering=0) as rest:
                try:
                    while True:
                        rest.write(b"x" * 4096)
                except OSError:
                    pass
            end = time.monotonic() + 60
            while (status := call(service.port, "POST", "/v1/bandits/shop/decisions", {})[0]) == 201:
                assert time.monotonic() < end, "the disk did not become full"
            assert status == 503, status
            assert call(service.port, "GET", "/v1/bandits/shop")[0] == 200
            time.sleep(0.5)
            assert service.process is not None
            assert service.process.poll() is None
            ballast.unlink()
            clients.journal.asked.add("after")
            while (status := call(service.port, "POST", "/v1/bandits/shop/decisions", {"id": "after"})[0]) != 201:
                assert status in {0, 200, 503}, status
                assert time.monotonic() < end, f"no decision after there was room again: {status}"
                if status == 200:
                    break
        assert service.stop() == 0
    return check(url, "shop", clients.journal, others=True)


def in_small_file_system(folder: Path) -> str:
    """Run `full_disk` in a new file system of its own, as root or as anybody; return what it printed."""
    mount = f'mount -t tmpfs -o size={SIZE} none "$0" && exec "$@"'
    command = ["sh", "-c", mount, str(folder), sys.executable, __file__, str(folder)]
    for namespace in (["unshare", "--mount"], ["unshare", "--user", "--map-root-user", "--mount"]):
        done = subprocess.run([*namespace, *command], capture_output=True, text=True, check=False, timeout=200)
        if done.returncode == 0 or "full_disk" in done.stderr:
            break
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


if __name__ == "__main__":
    print(full_disk(Path(sys.argv[1])))

"""Every policy plays the same on this CPU and as on an old one, bit for bit: compiles each twice, so takes minutes."""

import json
import os
import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).parent.parent / "tests"
sys.path.insert(0, str(TESTS))


def main() -> int:
    from cpu_digests import OLD_CPU, digests

    call, environment = [sys.executable, str(TESTS / "cpu_digests.py")], {**os.environ, **OLD_CPU}
    with subprocess.Popen(call, env=environment, stdout=subprocess.PIPE) as old:
        here = digests()
        found = json.loads(old.communicate()[0])
    for name in here:
        print(f"{name:<20}{'the same' if here[name] == found[name] else 'DIFFERENT'}")
    return int(here != found)


if __name__ == "__main__":
    sys.exit(main())

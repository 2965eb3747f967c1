"""One process without the compiler for many policies: to start one takes longer than what most of them do in it.

`wakeful.checks.uncompiled` starts one for each policy; the tests of what it finds let it.
"""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from processes import running
from wakeful.checks import uncompiled

CODE = """
import contextlib, io, json, sys, traceback
from wakeful.checks import uncompiled
for task in sys.stdin:
    said, problem = io.StringIO(), ""
    try:
        with contextlib.redirect_stdout(said):
            uncompiled.print_choices(json.loads(task))
    except Exception:
        problem = traceback.format_exc()
    print(json.dumps([said.getvalue(), problem]), flush=True)
"""

Ask = Callable[[str], subprocess.CompletedProcess[str]]


@contextmanager
def uncompiled_process() -> Iterator[Ask]:
    """Yield a function like `uncompiled.run_uncompiled` that asks the same process every time."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with running("-c", CODE, env=uncompiled.environment(), **pipes) as process:

        def ask(task: str) -> subprocess.CompletedProcess[str]:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(json.dumps(task) + "\n")
            process.stdin.flush()
            said, problem = json.loads(process.stdout.readline())
            return subprocess.CompletedProcess([sys.executable], 1 if problem else 0, said, problem)

        yield ask

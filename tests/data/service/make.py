"""Makes the database of this version of the tables that tests keep, and what is expected of it.

Run it once for every new version, with `tests` and `src` on the path: python tests/data/service/make.py. Files of older
versions stay as they are.
"""

import json
from pathlib import Path

from service_logs import expected_of, fill
from wakeful.service.migrations import SCHEMA

FOLDER = Path(__file__).parent

if __name__ == "__main__":
    path = FOLDER / f"version-{SCHEMA}.db"
    path.unlink(missing_ok=True)
    engine = fill(str(path), rounds=20, snapshot=60)
    expected = expected_of(engine)
    engine.close()
    Path(f"{path}.lock").unlink()
    (FOLDER / f"version-{SCHEMA}.json").write_text(json.dumps(expected, indent=1) + "\n")
    print(path, path.stat().st_size)

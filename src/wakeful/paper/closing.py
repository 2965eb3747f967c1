"""The end of the report: how to run it again, how to cite it, and the manifest."""

import shlex
from collections.abc import Mapping
from html import escape
from typing import Any

PAPER = "Gaillard, Saha, Dan: One Arrow, Two Kills: A Unified Framework for Achieving Optimal Regret Guarantees in "
PAPER += "Sleeping Bandits. AISTATS 2023"


def again(manifest: Mapping[str, Any]) -> str:
    """Return how to run this again, how to cite it, and the manifest."""
    return f"""<section aria-labelledby="again">
<h2 id="again">Run it again, cite it</h2>
<p>The same command gives the same numbers, on any number of cores:</p>
<pre tabindex="0"><code>{escape(_command(manifest))}</code></pre>
<p>To cite the paper: {escape(PAPER)}. To cite these numbers: Wakeful {escape(version(manifest))}, the command above, \
and <code>MANIFEST.json</code> beside this file. The claims for programs are in <code>claims.json</code>, the figures \
in <code>figures/</code>.</p>
<h3>Manifest</h3>
{_nested({**manifest, "command": _command(manifest)})}
</section>"""


def _nested(values: Mapping[str, Any], depth: int = 0) -> str:
    """Return a mapping as a list of names and values, however deep."""
    rows = (f"<div><dt>{escape(str(name))}</dt><dd>{_value(value, depth)}</dd></div>" for name, value in values.items())
    return f'<dl class="manifest">{"".join(rows)}</dl>'


def _value(value: Any, depth: int = 0) -> str:
    """Return a value of the manifest; what is small and deep inside stands on one line."""
    if isinstance(value, Mapping) and (depth < 1 or len(value) > 3):
        return _nested(value, depth + 1)
    if isinstance(value, Mapping):
        return ", ".join(f"{escape(str(name))} {_value(inner, depth + 1)}" for name, inner in value.items())
    if isinstance(value, float):
        return f"{value:,.4g}"
    if isinstance(value, (list, tuple)):
        return escape(", ".join(map(str, value))) or "none"
    return escape(str(value))


def _command(manifest: Mapping[str, Any]) -> str:
    """Return the command that made the report, as one types it."""
    command = manifest.get("command", "wakeful reproduce")
    return command if isinstance(command, str) else shlex.join(map(str, command))


def version(manifest: Mapping[str, Any]) -> str:
    """Return the version of Wakeful, wherever the manifest has it."""
    versions = manifest.get("versions")
    found = (
        versions.get("wakeful") if isinstance(versions, Mapping) else manifest.get("wakeful", manifest.get("version"))
    )
    return str(found or "")

"""All of `wakeful reproduce`, tiny: every claim is there, every figure is drawn, every verdict can turn."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import browser
import wakeful as wk
from pages import RENDERED, Outline, binary
from wakeful.lab.results import Results
from wakeful.numerics.arrays import Floats
from wakeful.paper import line_twelve, reproduce, theory, theory_claims
from wakeful.paper.claims import RULES, Rule, judged
from wakeful.paper.contents import (
    CLAIM,
    FAILS,
    HOLDS,
    IN_PART,
    OUR_CLAIM,
    QUESTION,
    UNTESTED,
    VERDICTS,
    Claim,
    Section,
    counted,
)
from wakeful.paper.evidence import Checked
from wakeful.paper.experiments import (
    CORRECTED,
    DOUBLING,
    EXP3G,
    ONLINE,
    PRINTED,
    SHARPENED,
    SI,
    SP_SI,
    SP_UCB,
    UCB,
    Experiment,
    experiments,
)
from wakeful.paper.markup import plain
from wakeful.paper.sections import drawn
from wakeful.paper.verdicts import Interval, short

IDS = (
    "lemma-1",
    "lemma-2",
    "ordering-gives-external",
    "ordering-gives-internal",
    "ordering-is-policy",
    "policy-above-ordering",
    "external-not-ordering",
    "appendix-a1-printed",
    "appendix-a1-corrected",
    "external-not-internal",
    "open-question-i",
    "adversarial-ordering",
    "theorem-1-printed",
    "theorem-1-corrected",
    "theorem-1-sharpened",
    "internal-root",
    "theorem-1-online",
    "theorem-1-consequences",
    "line-12",
    "no-lead-stochastic",
    "beats-both-dependent",
    "beats-both-rock-paper-scissors",
    "beats-both-random-dependence",
    "beats-both-random-games",
    "baselines-linear",
    "dependence-long",
    "half-and-half",
    "finds-nash",
    "regret-against-nash",
    "theorem-2-awake",
    "duels-root",
    "theorem-2-path",
    "best-pair",
    "ucb-outperforms-4",
    "ucb-outperforms-30",
    "beats-both-categories",
    "groups-example",
    "ucb-linear-duels",
    "order-optimal-duels",
    "fixed-point",
    "duel-regret-generalises",
    "rock-paper-scissors-facts",
    "random-games-half",
)
SHORT = {"path": (20_000, 2), "dependent-long": (10_000, 2), "adversarial": (10_000, 2), "duels-30": (1_000, 2)}

Findings = dict[str, Any]
Patch = pytest.MonkeyPatch


@dataclass(frozen=True)
class Tiny:
    """A whole run: what it found, what it said, what it wrote."""

    findings: Findings
    done: reproduce.Reproduced
    sections: list[Section]
    rules: dict[str, Rule]  # by the id of the claim that each judges

    @property
    def claims(self) -> tuple[Claim, ...]:
        return self.done.claims

    @property
    def pictures(self) -> list[str]:
        return [picture.name for section in self.sections for picture in section.pictures]

    @property
    def page(self) -> Path:
        return self.done.out / "report.html"


def shorter() -> tuple[Experiment, ...]:
    """Return all experiments, the longest of them shorter still."""
    return tuple(replace(one, quick=SHORT.get(one.id, one.quick)) for one in experiments())


pytestmark = pytest.mark.timeout(600)  # the first test runs and compiles everything


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Tiny:
    """Return everything, run once."""
    kept: Findings = {}

    def watched(findings: Findings, *rest: Any) -> list[Claim]:
        kept.update(findings)
        return judged(findings, *rest)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reproduce, "judged", watched)
        patch.setattr(reproduce, "experiments", shorter)
        done = reproduce.reproduce(tmp_path_factory.mktemp("all") / "report", quick=True, runs=2)
    rules = {rule.judge(*(kept[need] for need in rule.needs)).id: rule for rule in RULES}
    return Tiny(kept, done, [part.section for part in drawn(kept)], rules)


def test_every_claim_is_there_in_order(tiny: Tiny) -> None:
    assert tuple(claim.id for claim in tiny.claims) == IDS
    assert len(tiny.rules) == len(RULES)
    assert set(tiny.findings) == {one.id for one in experiments()} | set(reproduce.STUDIES)


def test_every_row_is_whole(tiny: Tiny) -> None:
    words = Outline(tiny.page.read_text(encoding="utf-8")).words
    for claim in tiny.claims:
        assert claim.verdict in VERDICTS, claim.id
        assert claim.kind in {CLAIM, QUESTION, OUR_CLAIM}, claim.id
        for part in (claim.where, claim.claim, claim.measured, claim.reason):
            assert part.strip() == part != "", claim.id
            assert "nan" not in part.lower().split(), claim.id
        assert claim.numbers["quick"] is True
        assert plain(claim.measured) in words, claim.id


def test_every_figure_is_drawn_and_in_the_page(tiny: Tiny) -> None:
    assert len(tiny.pictures) == len(set(tiny.pictures)) >= 12
    files = {path.name for path in (tiny.done.out / "figures").iterdir()}
    narrow = [f"{picture.name}-narrow" for part in tiny.sections for picture in part.pictures if picture.narrow]
    assert len(narrow) == 6, "figures 2, 3 and 4, with and without our policies"
    assert files == {f"{name}.{ending}" for name in (*tiny.pictures, *narrow) for ending in ("svg", "png")}
    assert all((tiny.done.out / "figures" / name).stat().st_size > 1_000 for name in files)
    page = Outline(tiny.page.read_text(encoding="utf-8"))
    assert page.tags["figure"] == len(tiny.pictures)
    assert {f"figure-{name}" for name in tiny.pictures} <= set(page.ids)
    assert {section.id for section in tiny.sections} <= set(page.ids)


def test_the_closing_table_has_every_claim(tiny: Tiny) -> None:
    lines = reproduce.table(tiny.done).splitlines()
    rows = [line for line in lines if line.startswith(VERDICTS)]
    for claim, row in zip(tiny.claims, rows, strict=True):
        assert row.split(f"{claim.id} (")[0].strip() == claim.verdict
    holding = sum(claim.verdict == HOLDS for claim in tiny.claims)
    assert any(line.startswith(f"{holding} claims hold, ") for line in lines)
    assert f"{counted(tiny.claims)}." in lines


def test_no_formula_is_left_as_it_is_typed(tiny: Tiny) -> None:
    text = re.sub(r"<(style|svg|code|math)\b.*?</\1>", "", tiny.page.read_text(encoding="utf-8"), flags=re.DOTALL)
    seen = " ".join(re.split(r"<[^>]*>", text[: text.index('class="manifest"')]))
    assert "<math" in tiny.page.read_text(encoding="utf-8")
    assert re.findall(r"\S*(?:sqrt\(|\w_\w|\w\^|-&gt;|&lt;=|!=|\|)\S*", seen) == []


def test_no_two_columns_have_the_same_name(tiny: Tiny) -> None:
    for section in tiny.sections:
        for table in section.tables:
            assert len(set(table.header)) == len(table.header), table.caption
            for notion in ("policy", "internal", "external", "ordering", "dueling"):
                assert notion not in table.header[1:], table.caption


def test_every_label_has_its_code_and_one_only(tiny: Tiny) -> None:
    section = next(section for section in tiny.sections if section.id == "labels")
    rows = [(label, code.strip("`")) for label, code, _ in section.tables[0].rows]
    for found in tiny.findings.values():
        if isinstance(found, Results):
            assert {(label, code) for label, code in found.policies.items()} <= set(rows)
    codes = {label: [code for other, code in rows if other == label] for label, _ in rows}
    assert {label for label, found in codes.items() if len(found) > 1} <= {PRINTED, CORRECTED, SHARPENED}
    for label in codes:
        if label.endswith(")") and "paper" not in label:
            assert repr(eval(label, vars(wk))) == codes[label][0], "a label that is code makes the policy"
    assert codes[SI] == [repr(wk.SIExp3(eta="sqrt", exploration=0))]


def test_every_caption_says_how_it_was_made(tiny: Tiny) -> None:
    for section in tiny.sections:
        for picture in section.pictures:
            assert picture.caption.endswith("."), picture.name
            assert picture.made.endswith("."), picture.name


def numbers_of(value: Any) -> Iterator[Interval]:
    """Yield every exponent among the numbers of a claim, however deep."""
    if isinstance(value, dict):
        for inner in value.values():
            yield from numbers_of(inner)
    elif isinstance(value, list) and value and isinstance(value[0], list):
        for inner in value:
            yield from numbers_of(inner)
    elif isinstance(value, list):
        yield Interval(*value)


@pytest.mark.parametrize(
    ("claim", "figures"),
    [
        ("dependence-long", ["dependent-long"]),
        ("internal-root", ["theorem-1-dependent", "theorem-1-switching"]),
        ("duels-root", ["duels-awake"]),
    ],
)
def test_figures_and_claims_have_the_same_exponents(tiny: Tiny, claim: str, figures: list[str]) -> None:
    numbers = next(one.numbers for one in tiny.claims if one.id == claim)
    said = [short(one.mean) for key in ("exponent", "exponents") for one in numbers_of(numbers.get(key))]
    drawn_ = " ".join((tiny.done.out / "figures" / f"{name}.svg").read_text(encoding="utf-8") for name in figures)
    shown = drawn_.replace("\N{MINUS SIGN}", "-")
    assert said
    assert all(f"T^{one}<" in shown for one in said), (said, re.findall(r"T\^[^<]*", shown))


@pytest.fixture(scope="module")
def chromium() -> Iterator[browser.Browser]:
    """Return a running browser."""
    with browser.running(binary()) as running:
        yield running


@pytest.mark.parametrize("width", [1280, 360])
def test_the_whole_report_in_a_browser(chromium: browser.Browser, tiny: Tiny, width: int) -> None:
    page = chromium.open(tiny.page.as_uri(), width)
    figures = page.evaluate(RENDERED)
    assert len(figures) == len(tiny.pictures)
    for name, figure in zip(tiny.pictures, figures, strict=True):
        assert figure["width"] >= 250, name
        assert figure["height"] >= 50, name
        assert figure["drawn"] >= 10, name
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert page.requests() == []
    assert page.complaints() == []


# Every verdict can turn: for each claim made-up findings, and what is said of them.

Change = Callable[[Findings, Patch], Findings]
RUNS = 20
RATES = (PRINTED, CORRECTED, SHARPENED, ONLINE, DOUBLING)


def noise(runs: int = RUNS) -> Floats:
    """Return factors about 1, one for each run; their mean is 1."""
    factors = np.random.default_rng(3).standard_normal(runs)
    spread: Floats = 1.0 + 0.02 * (factors - factors.mean())
    return spread


def growing(marks: Any, mean: float, power: float, runs: int = RUNS) -> Floats:
    """Return curves (runs, marks) that grow like t^power to about `mean`."""
    curves: Floats = mean * noise(runs)[:, np.newaxis] * (np.asarray(marks) / marks[-1]) ** power
    return curves


Shapes = dict[str, tuple[float, float]]  # of policies: where their curves end, and their exponents


def with_curves(found: Results, shapes: dict[str, Shapes], runs: int = RUNS) -> Results:
    """Return results whose regrets, by notion and policy, have these ends and exponents; all others 100 and 1/2."""
    regrets = {
        notion: np.array(
            [
                growing(found.checkpoints, *shapes.get(notion, {}).get(policy, (100.0, 0.5)), runs)
                for policy in found.policies
            ]
        )
        for notion in found.regrets
    }
    return replace(found, runs=runs, regrets=regrets)


def curves(*names: str, **shapes: Shapes) -> Change:
    """Return the change that gives these experiments, or all, such curves, by notion of regret."""

    def change(findings: Findings, _: Patch) -> Findings:
        chosen = names or [name for name, found in findings.items() if isinstance(found, Results)]
        return findings | {name: with_curves(findings[name], shapes) for name in chosen}

    return change


def of_rounds(rounds: int, change: Change) -> Change:
    """Return the change that makes every experiment so long, and then another."""
    return both(lambda findings, _: {name: longer(found, rounds) for name, found in findings.items()}, change)


def at_full_size(change: Change) -> Change:
    """Return the change that makes every experiment as long as in the whole report, and then another."""
    sizes = {one.id: one.rounds for one in experiments()}
    return both(lambda findings, _: {n: longer(found, sizes.get(n, 0)) for n, found in findings.items()}, change)


def longer(found: Any, rounds: int) -> Any:
    """Return results as if after so many rounds; what is no such thing stays."""
    if not isinstance(found, Results):
        return found
    marks = np.unique(np.ceil(np.asarray(found.checkpoints) * (rounds / found.rounds)).astype(np.int64))
    chosen = np.linspace(0, len(found.checkpoints) - 1, len(marks)).astype(np.int64)
    regrets = {notion: values[:, :, chosen] for notion, values in found.regrets.items()}
    return replace(found, rounds=rounds, checkpoints=marks, regrets=regrets)


def checks(held: int) -> Change:
    """Return the change after which every relation held so often of three times."""

    def change(findings: Findings, _: Patch) -> Findings:
        found = findings["relations"]
        made_up = dict.fromkeys(found.checks, Checked(3, held, 0.0 if held == 3 else 1.0))
        return findings | {"relations": replace(found, checks=made_up)}

    return change


def witnesses(internal: float = 0.0, external: float = 0.0, ordering: float = 0.0, policy: float = 1.0) -> Change:
    """Return the change after which every witness has these regrets, as shares of T."""

    def change(findings: Findings, _: Patch) -> Findings:
        found = findings["relations"]
        made_up = {}
        for name, witness in found.witnesses.items():
            rounds = len(witness.history.choices)
            made_up[name] = witness._replace(
                internal=internal * rounds,
                external=np.full_like(witness.external, external * rounds),
                ordering=ordering * rounds,
                policy=policy * rounds,
            )
        return findings | {"relations": replace(found, witnesses=made_up)}

    return change


def both(first: Change, second: Change) -> Change:
    return lambda findings, patch: second(first(findings, patch), patch)


def same(findings: Findings, _: Patch) -> Findings:
    return findings


def proof_with(scale: float) -> Change:
    """Return the change after which the proof of Theorem 1 is asked about another rate."""
    right = theory.derived

    def change(findings: Findings, patch: Patch) -> Findings:
        patch.setattr(theory_claims, "derived", lambda _, sharpened=False: right(scale, sharpened))
        return findings

    return change


def line_12(power: float, held: float) -> Change:
    """Return the change that gives line 12 such a growth in one game, and such a regret in the other."""

    def change(findings: Findings, _: Patch) -> Findings:
        found, name = findings["line-12"], line_twelve.MULTIPLIED
        told = with_curves(found.told, {"internal": {name: (1_000.0, power)}}, 1)
        reacting = with_curves(found.held, {"internal": {name: (held, 0.5)}})
        return findings | {"line-12": line_twelve.Switch(told, reacting)}

    return change


def nash(**shapes: tuple[float, float]) -> Change:
    """Return the change that gives what was found about games such ends and exponents, for every policy."""

    def change(findings: Findings, _: Patch) -> Findings:
        found = findings["nash"]
        made_up: dict[str, dict[str, Floats]] = {}
        for field, shape in shapes.items():
            one = growing(found.rounds, *shape)
            axes = next(iter(getattr(found, field).values())).ndim
            values = one if axes == 2 else np.repeat(one[:, :, np.newaxis], len(found.sub_games), axis=2)
            made_up[field] = dict.fromkeys(getattr(found, field), values)
        return findings | {"nash": found._replace(**made_up)}

    return change


def shares(ucb: float, exp3: float, own: float) -> Change:
    """Return the change that gives the three policies such shares of Paper."""

    def change(findings: Findings, _: Patch) -> Findings:
        found = findings["nash"]
        made_up = {UCB: ucb * noise(), EXP3G: exp3 * noise(), SI: np.minimum(own * noise(), 1.0)}
        return findings | {"nash": found._replace(paper_share=found.paper_share | made_up)}

    return change


def facts(**values: Any) -> Change:
    """Return the change after which these facts were computed."""
    return lambda findings, _: findings | {"facts": findings["facts"]._replace(**values)}


def beats(name: str) -> list[tuple[str, Change]]:
    """Return the cases of "SI-EXP3 outperforms S-UCB and S-EXP3"."""
    ends = ((50.0, HOLDS), (120.0, IN_PART), (300.0, FAILS))
    others = {UCB: (100.0, 1.0), EXP3G: (150.0, 1.0)}
    return [(verdict, curves(name, policy={SI: (own, 0.5), **others})) for own, verdict in ends]


def baselines(ucb: float, exp3: float) -> Change:
    """Return the change after which regrets of S-UCB and S-EXP3 have such exponents, in games that of S-EXP3."""
    policies = {UCB: (100.0, ucb), EXP3G: (100.0, exp3)}
    return both(curves("dependent-long", policy=policies), nash(regret=(100.0, exp3)))


def internal(mean: float, power: float = 0.5) -> Change:
    """Return the change after which every rate has such an internal regret."""
    every = dict.fromkeys(RATES, (mean, power))
    return curves("theorem-1-dependent", "theorem-1-switching", internal=every)


def consequences(external: float, ordering: float) -> Change:
    """Return the change that gives SI-EXP3, with any rate, such external and ordering regrets."""
    players = (SI, *RATES)
    return curves(
        external=dict.fromkeys(players, (external, 0.5)),
        ordering=dict.fromkeys(players, (ordering, 0.5)),
    )


def calibrated(mean: float) -> Change:
    """Return the change after which rates that need no horizon have such an internal regret, the others 100."""
    every = {ONLINE: (mean, 0.5), DOUBLING: (mean, 0.5)}
    return curves("theorem-1-dependent", "theorem-1-switching", internal=every)


def duel(name: str, own: tuple[float, float], ucb: tuple[float, float] = (100.0, 0.5)) -> Change:
    """Return the change that gives both sparring policies such ends and exponents."""
    return curves(name, dueling={SP_SI: own, SP_UCB: ucb})


def sparring_ucb(power: float) -> Change:
    """Return the change after which the regret of Sp-UCB has such an exponent in all duels."""
    return curves(dueling={SP_UCB: (1_000.0, power)})


RELATION = [(HOLDS, checks(3)), (IN_PART, checks(2)), (FAILS, checks(0))]
HUGE = 1e12
CASES: dict[str, list[tuple[str, Change]]] = {
    **dict.fromkeys(
        ("lemma-1", "lemma-2", "ordering-gives-external", "ordering-gives-internal", "ordering-is-policy"), RELATION
    ),
    "policy-above-ordering": [
        (HOLDS, both(checks(3), witnesses(ordering=0.0, policy=0.5))),
        (IN_PART, both(checks(3), witnesses(ordering=0.5, policy=0.5))),
        (IN_PART, both(checks(0), witnesses(ordering=0.0, policy=0.5))),
        (FAILS, both(checks(0), witnesses(ordering=0.5, policy=0.5))),
    ],
    "external-not-ordering": [
        (HOLDS, witnesses(external=0.0, ordering=0.5)),
        (FAILS, witnesses(external=0.0, ordering=0.0)),
        (FAILS, witnesses(external=0.5, ordering=0.5)),
    ],
    "appendix-a1-printed": [
        (HOLDS, witnesses(external=0.25, ordering=0.0)),
        (FAILS, witnesses(external=0.0, ordering=0.0)),
        (FAILS, witnesses(external=0.25, ordering=0.25)),
    ],
    "appendix-a1-corrected": [
        (HOLDS, witnesses(external=0.25, ordering=0.0)),
        (FAILS, witnesses(external=0.0, ordering=0.0)),
        (FAILS, witnesses(external=0.25, ordering=0.25)),
    ],
    "external-not-internal": [
        (HOLDS, witnesses(external=0.0, internal=0.5)),
        (FAILS, witnesses(external=0.0, internal=0.0)),
        (FAILS, witnesses(external=0.5, internal=0.5)),
    ],
    "open-question-i": [(IN_PART, witnesses(ordering=0.0)), (FAILS, witnesses(ordering=0.25))],
    "adversarial-ordering": [
        (IN_PART, curves("adversarial", ordering={SI: (100.0, 0.5)})),
        (FAILS, curves("adversarial", ordering={SI: (100.0, 1.0)})),
    ],
    "theorem-1-printed": [
        (HOLDS, at_full_size(both(internal(1.0), proof_with(2.0)))),
        (IN_PART, at_full_size(internal(1.0))),
        (FAILS, internal(HUGE)),
    ],
    "theorem-1-corrected": [
        (HOLDS, at_full_size(internal(1.0))),
        (IN_PART, at_full_size(both(internal(1.0), proof_with(1e-6)))),
        (FAILS, internal(HUGE)),
    ],
    "theorem-1-sharpened": [(HOLDS, at_full_size(internal(1.0))), (FAILS, internal(HUGE))],
    "internal-root": [(HOLDS, internal(100.0, 0.5)), (IN_PART, internal(100.0, 0.62)), (FAILS, internal(100.0, 0.75))],
    "theorem-1-online": [(HOLDS, calibrated(120.0)), (IN_PART, calibrated(200.0)), (FAILS, calibrated(1_000.0))],
    "theorem-1-consequences": [
        (HOLDS, at_full_size(consequences(1.0, 1.0))),
        (IN_PART, at_full_size(consequences(1.0, HUGE))),
        (UNTESTED, of_rounds(500, consequences(1.0, 1.0))),
        (FAILS, consequences(HUGE, HUGE)),
    ],
    "line-12": [(HOLDS, line_12(0.5, 1.0)), (FAILS, line_12(1.0, 1.0)), (FAILS, line_12(0.5, HUGE))],
    "no-lead-stochastic": [
        (HOLDS, curves("stochastic", policy={SI: (200.0, 0.5)})),
        (FAILS, curves("stochastic", policy={SI: (50.0, 0.5)})),
    ],
    "beats-both-dependent": beats("dependent"),
    "beats-both-rock-paper-scissors": beats("rock-paper-scissors"),
    "beats-both-random-dependence": beats("random-dependence"),
    "beats-both-random-games": beats("random-games"),
    "baselines-linear": [
        (HOLDS, baselines(1.0, 1.0)),
        (IN_PART, baselines(1.0, 0.5)),
        (FAILS, baselines(0.5, 0.5)),
    ],
    "dependence-long": [
        (HOLDS, curves("dependent-long", policy={SI: (100.0, 0.5)})),
        (FAILS, curves("dependent-long", policy={SI: (100.0, 1.0)})),
    ],
    "half-and-half": [
        (HOLDS, shares(0.5, 0.5, 1.0)),
        (IN_PART, shares(0.5, 0.5, 0.5)),
        (FAILS, shares(0.9, 0.1, 0.5)),
    ],
    "finds-nash": [
        (HOLDS, nash(self_play=(1e-4, -0.5), random_games=(1e-4, -0.5))),
        (IN_PART, nash(self_play=(1e-4, -0.5), random_games=(0.4, 0.5))),
        (FAILS, nash(self_play=(0.4, 0.5), random_games=(0.4, 0.5))),
    ],
    "regret-against-nash": [(HOLDS, nash(regret=(100.0, 0.5))), (FAILS, nash(regret=(1_000.0, 1.0)))],
    "theorem-2-awake": [
        (HOLDS, at_full_size(duel("duels-awake", (1.0, 0.5)))),
        (UNTESTED, of_rounds(1_000, duel("duels-awake", (1.0, 0.5)))),
        (FAILS, duel("duels-awake", (HUGE, 0.5))),
    ],
    "duels-root": [
        (HOLDS, duel("duels-awake", (100.0, 0.5))),
        (IN_PART, duel("duels-awake", (100.0, 0.62))),
        (FAILS, duel("duels-awake", (100.0, 0.75))),
    ],
    "theorem-2-path": [
        (HOLDS, at_full_size(duel("path", (1.0, 0.5)))),
        (UNTESTED, duel("path", (1.0, 0.5))),
        (FAILS, duel("path", (HUGE, 0.5))),
        (FAILS, duel("path", (1_000.0, 1.0))),
    ],
    "groups-example": [(HOLDS, duel("groups", (100.0, 0.5))), (FAILS, duel("groups", (1_000.0, 1.5)))],
    "best-pair": [(HOLDS, duel("duels-4", (100.0, 0.5))), (FAILS, duel("duels-4", (1_000.0, 1.5)))],
    **{
        f"ucb-outperforms-{n}": [
            (HOLDS, duel(f"duels-{n}", (200.0, 0.5))),
            (FAILS, duel(f"duels-{n}", (50.0, 0.5))),
        ]
        for n in (4, 30)
    },
    "beats-both-categories": [
        (HOLDS, duel("categories", (50.0, 0.5))),
        (FAILS, duel("categories", (200.0, 0.5))),
    ],
    "ucb-linear-duels": [(HOLDS, sparring_ucb(1.0)), (FAILS, sparring_ucb(0.5))],
    "order-optimal-duels": [
        (FAILS, same),
        (IN_PART, facts(least=(1e4, 1e8))),
        (IN_PART, facts(orders=(True, False))),
    ],
    "fixed-point": [(HOLDS, same), (FAILS, facts(fixed_point=np.ones(3)))],
    "duel-regret-generalises": [(HOLDS, same), (IN_PART, facts(duels=(0.0, 0.1))), (FAILS, facts(duels=(0.1, 0.1)))],
    "rock-paper-scissors-facts": [
        (HOLDS, same),
        (IN_PART, facts(paper=0.5)),
        (FAILS, facts(paper=0.5, means=np.arange(3.0), values=np.ones(4))),
    ],
    "random-games-half": [(HOLDS, same), (FAILS, facts(random_values=np.ones(3)))],
}


def judgement(tiny: Tiny, id: str, findings: Findings) -> Claim:
    """Return the claim of that name, judged by these findings."""
    rule = tiny.rules[id]
    return rule.judge(*(findings[need] for need in rule.needs))


def test_every_claim_has_its_cases() -> None:
    assert set(CASES) == set(IDS)
    for id, cases in CASES.items():
        assert len({verdict for verdict, _ in cases}) >= 2, id


@pytest.mark.parametrize(
    ("id", "n"), [pytest.param(id, n, id=f"{id}-{n}") for id, cases in CASES.items() for n in range(len(cases))]
)
def test_every_verdict_turns_with_what_is_found(tiny: Tiny, id: str, n: int, monkeypatch: Patch) -> None:
    verdict, change = CASES[id][n]
    claim = judgement(tiny, id, change(tiny.findings, monkeypatch))
    assert claim.id == id
    assert claim.verdict == verdict, claim.measured
    assert claim.measured


def test_of_several_findings_each_counts(tiny: Tiny) -> None:
    several = {id: rule for id, rule in tiny.rules.items() if len(rule.needs) > 1}
    assert several
    for id, rule in several.items():
        changes = dict(CASES[id])
        with pytest.MonkeyPatch.context() as patch:
            bad = changes[FAILS](tiny.findings, patch)
        with pytest.MonkeyPatch.context() as patch:
            good = changes[HOLDS](tiny.findings, patch)
            assert judgement(tiny, id, good).verdict == HOLDS, id
            for need in rule.needs:
                assert judgement(tiny, id, good | {need: bad[need]}).verdict != HOLDS, (id, need)


BOUNDED = {
    "theorem-1-printed",
    "theorem-1-corrected",
    "theorem-1-sharpened",
    "theorem-1-consequences",
    "line-12",
    "theorem-2-awake",
    "theorem-2-path",
}  # claims that hold a regret against a bound


def bounds_of(claim: Claim) -> list[tuple[float, float]]:
    """Return every bound of a claim, and the most that any policy can have there."""
    numbers = claim.numbers
    if "bounds" in numbers:
        assert set(numbers["bounds"]) == set(numbers["most"]), claim.id
        return [(bound, numbers["most"][part]) for part, bound in numbers["bounds"].items()]
    return [(numbers["bound"], numbers["most"])] if "bound" in numbers else []


def test_every_bound_of_the_whole_report_can_be_exceeded(tiny: Tiny, monkeypatch: Patch) -> None:
    findings = at_full_size(same)(tiny.findings, monkeypatch)
    claims = [judgement(tiny, id, findings) for id in IDS]
    assert {claim.id for claim in claims if bounds_of(claim)} == BOUNDED
    for claim in claims:
        assert all(bound < most for bound, most in bounds_of(claim)), claim.id
        assert claim.verdict != UNTESTED, claim.id


@pytest.mark.parametrize("rounds", [60, 500, 4_000])
def test_no_bound_holds_that_cannot_be_exceeded(tiny: Tiny, monkeypatch: Patch, rounds: int) -> None:
    nothing = curves(**{notion: {} for notion in ("internal", "external", "ordering", "dueling")})
    findings = of_rounds(rounds, both(nothing, line_12(0.5, 1.0)))(tiny.findings, monkeypatch)
    for id in sorted(BOUNDED - {"line-12"}):
        claim = judgement(tiny, id, findings)
        if any(bound >= most for bound, most in bounds_of(claim)):
            assert claim.verdict != HOLDS, (id, rounds)


def scattered(marks: Any, mean: float, power: float, runs: int = RUNS) -> Floats:
    """Return curves as `growing` does, with the same mean at every mark and far more noise around it."""
    noisy = np.random.default_rng(4).normal(size=(runs, len(marks)))
    wide: Floats = mean * (1.0 + noisy - noisy.mean(axis=0)) * (np.asarray(marks) / marks[-1]) ** power
    return wide


@pytest.mark.parametrize("id", sorted(CASES))
def test_noise_never_makes_a_claim_hold(tiny: Tiny, id: str) -> None:
    """What a run with little noise does not confirm, a run with much noise does not confirm either."""
    for verdict, change in CASES[id]:
        if verdict != HOLDS:
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(f"{__name__}.growing", scattered)
                assert judgement(tiny, id, change(tiny.findings, patch)).verdict != HOLDS, verdict

"""An arena of language models: visitors compare two answers, models come and go, and a leaderboard is a web page.

Run: python examples/arena.py [FOLDER]. The visitors are simulated; everything else is what a real arena would do.
"""

import random
import sys
from pathlib import Path

import wakeful as wk

# What the arena does not know: how strong each model is at each kind of task, on the scale of log-odds.
TASKS = ("code", "prose")
STRENGTHS = {
    "atlas": (0.9, 0.1),
    "birch": (0.4, 0.5),
    "cedar": (0.0, 0.9),
    "dune": (-0.3, -0.2),
    "ember": (-0.8, -0.6),
    "fjord": (1.5, 1.2),  # released later
}
LEFT_BONUS, TIES = 0.3, 0.7  # visitors prefer the answer on the left a little, and often none of the two


def vote(rng: random.Random, left: str, right: str, task: str) -> str:
    """Return what a visitor says of two answers."""
    kind = TASKS.index(task)
    odds = 2.718281828 ** ((STRENGTHS[left][kind] - STRENGTHS[right][kind] + LEFT_BONUS) / 2)
    return rng.choices(["left", "right", "tie"], [odds, 1 / odds, TIES])[0]


def open_arena(rng: random.Random) -> wk.DuelingBandit:
    """Start with the votes of last year, which somebody else collected: left, right, winner, group."""
    models = ["atlas", "birch", "cedar", "dune", "ember"]
    history = []
    for _ in range(500):
        left, right = rng.sample(models, 2)
        task = rng.choice(TASKS)
        history.append((left, right, vote(rng, left, right, task), task))
    arena = wk.DuelingBandit(arms=models, seed=1)
    print(arena.learn(history))
    return arena


def run_day(arena: wk.DuelingBandit, rng: random.Random, visitors: int, overloaded: str) -> None:
    """Serve visitors who vote at the same time: late, in any order, or never."""
    waiting: list[tuple[dict[str, object], str]] = []
    for _ in range(visitors):
        busy = {overloaded} if rng.random() < 0.3 else set()
        awake = [name for name in arena.arms if name not in {*arena.retired, *busy}]
        task = rng.choice(TASKS)
        duel = arena.choose(awake, distinct=True, group=task)
        waiting.append((duel.to_dict(), vote(rng, str(duel.left), str(duel.right), task)))  # in a cookie, say
        if len(waiting) > 20:
            cookie, winner = waiting.pop(rng.randrange(len(waiting)))
            if rng.random() < 0.9:  # one of ten never votes
                arena.update(wk.Duel.from_dict(cookie), winner=winner)


def publish(arena: wk.DuelingBandit, folder: Path) -> None:
    """Write the leaderboards: one for all tasks, and one for each."""
    arena.ranking(scale="elo").to_html(folder / "leaderboard.html", title="All tasks")
    for task, ranking in arena.ranking_by_group(scale="elo").items():
        ranking.to_html(folder / f"leaderboard-{task}.html", title=f"Task: {task}")


def main(folder: Path) -> wk.DuelingBandit:
    folder.mkdir(parents=True, exist_ok=True)
    rng = random.Random(7)
    arena = open_arena(rng)
    for day in range(1, 7):
        if day == 3:
            arena.add_arm("fjord")  # a new model: it plays at once, and moves nobody else's strength
        if day == 5:
            arena.retire_arm("ember")  # withdrawn: it keeps its rank, and its late votes still count
        run_day(arena, rng, visitors=400, overloaded="birch")
        arena.save(folder / "arena.wakeful")  # a restart continues from here
        arena = wk.DuelingBandit.load(folder / "arena.wakeful")
    publish(arena, folder)
    ranking = arena.ranking(scale="elo")
    print(ranking)
    chance = ranking.probability("fjord", "atlas")
    print(f"fjord beats atlas: {chance.probability:.0%} ({chance.low:.0%} to {chance.high:.0%}), tie: {chance.tie:.0%}")
    return arena


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "arena"))

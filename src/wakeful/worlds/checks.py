"""`check_world`: the checks that every world must pass.

Each check is a function of a world that raises `AssertionError` with a sentence. `CHECKS` lists those of worlds drawn
in blocks, `ADAPTIVE_CHECKS` those of worlds that see the learner's probabilities.
"""

import random
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Any

import numpy as np

from wakeful.inputs import require
from wakeful.numerics.arrays import Floats, Mask
from wakeful.policies.spec import subclasses
from wakeful.policies.suite import require_equal_copy, require_frozen, run_checks
from wakeful.worlds.blocks import checked_awake_now, checked_block, checked_losses_now
from wakeful.worlds.games import Game
from wakeful.worlds.world import AdaptiveWorld, AnyWorld, Block, World, a_world

SIZES = (1, 7, 64)  # of the blocks that are looked at
BLOCKS = 3  # how many of them
ADAPTIVE_ROUNDS = 50  # of an adaptive world
TYPES = (np.bool_, np.float64, np.float64)  # of the arrays of a block


def check_world(world: World | AdaptiveWorld) -> None:
    """Run every check on `world`; raise `AssertionError` at the first that fails, naming it.

    >>> from wakeful.worlds import Stochastic
    >>> check_world(Stochastic(4))
    """
    a_world(world)
    checks: tuple[Callable[[Any], None], ...] = CHECKS if isinstance(world, World) else ADAPTIVE_CHECKS
    run_checks("world", world, (check_is_data, *checks))


def check_is_data(world: AnyWorld) -> None:
    """Parameters are frozen, compare, and print as the code that makes them unless the class says otherwise."""
    require_frozen("world", world)
    n_arms = world.n_arms
    require(isinstance(n_arms, int), f"n_arms must be a whole number from 1, got {n_arms!r}")
    require(n_arms >= 1, f"n_arms must be a whole number from 1, got {n_arms!r}")
    hash(world)
    if world.printable:
        require_equal_copy("world", world, _evaluated(world))


def check_blocks(world: World) -> None:
    """Blocks have the right shapes and types, an arm is awake in every row, losses are in [0, 1] where awake."""
    for size in SIZES:
        blocks = list(islice(world.blocks(np.random.default_rng(1), size), BLOCKS))
        require(blocks, "there must be at least one block")
        for block in blocks:
            require_block(block, Block, TYPES)
            checked_block(block, world.n_arms)
        for block in blocks if world.length is None else blocks[:-1]:
            require(len(block.awake) == size, f"a block must have {size} rounds, got {len(block.awake)}")
        require(len(blocks[-1].awake) <= size, f"a block must have at most {size} rounds, got {len(blocks[-1].awake)}")


def check_length(world: Any) -> None:
    """A world with a `length` yields so many rounds for every size of block; one without never ends."""
    length = world.length
    if length is None:
        found = len(list(islice(world.blocks(np.random.default_rng(2), 5), 20)))
        require(found == 20, f"a world whose length is None must not end, got {found} blocks")
        return
    require(isinstance(length, int), f"length must be a whole number from 1, or None, got {length!r}")
    for size in (max(length // 3, 1), length, length + 1):
        drawn = world.blocks(np.random.default_rng(2), size)
        sizes = [len(block[1]) for block in islice(drawn, length + 1)]  # of arrays that have a row for each round
        require(sum(sizes) == length, f"there must be {length} rounds, got {sum(sizes)} in blocks of {size}")
        require(all(n == size for n in sizes[:-1]), f"only the last block may be short, got {sizes}")


def check_repeatable(world: Any) -> None:
    """The same seed gives the same rounds, whatever other runs are going on; nothing else is random."""
    for size in SIZES:
        alone = _copied(islice(world.blocks(np.random.default_rng(3), size), BLOCKS))
        with global_chance():
            one, other = (world.blocks(np.random.default_rng(seed), size) for seed in (3, 4))
            mixed = _copied(block for block, _ in islice(zip(one, other, strict=False), BLOCKS))
        for first, second in zip(alone, mixed, strict=True):
            require(equal(first, second), "the same seed must give the same blocks")


def check_own_arrays(world: Any) -> None:
    """A block does not change when later blocks are drawn, or when the caller changes another block."""
    kept = list(islice(world.blocks(np.random.default_rng(5), 7), BLOCKS))
    again = []
    for block in islice(world.blocks(np.random.default_rng(5), 7), BLOCKS):
        again.append(_copied([block])[0])
        for array in block:
            if array is not None and array.flags.writeable:
                array[...] = False
    for first, second in zip(kept, again, strict=True):
        require(equal(first, second), "blocks must not share memory with each other or with the world")


def check_expected_by_set(world: World) -> None:
    """A world with `expected_by_set` knows expected losses, and in a run they depend on the awake set alone."""
    if not world.expected_by_set:
        return
    known: dict[bytes, Floats] = {}
    for block in islice(world.blocks(np.random.default_rng(8), max(SIZES)), BLOCKS):
        if block.expected is None:
            raise AssertionError("a world that says expected_by_set must give expected losses, got None")
        for awake, expected in zip(block.awake, block.expected, strict=True):
            first = known.setdefault(awake.tobytes(), expected)
            require(np.array_equal(first[awake], expected[awake]), "expected losses must be the same for the same set")


def check_rounds(world: AdaptiveWorld) -> None:
    """At least one arm is awake in every round, and losses are in [0, 1] where awake."""
    for awake, losses in _rounds(world, 1):
        require_array("awake", awake, np.bool_)
        require_array("losses", losses, np.float64)
        checked_losses_now(losses, awake)


def check_adaptive_repeatable(world: AdaptiveWorld) -> None:
    """The same seed and the same probabilities give the same rounds, whatever other runs are going on."""
    alone = list(_rounds(world, 3))
    with global_chance():
        mixed = [one for one, _ in zip(_rounds(world, 3), _rounds(world, 4), strict=True)]
    for first, second in zip(alone, mixed, strict=True):
        same = all(np.array_equal(a, b) for a, b in zip(first, second, strict=True))
        require(same, "the same seed and probabilities must give the same rounds")


CHECKS: tuple[Callable[[World], None], ...] = (
    check_blocks,
    check_length,
    check_repeatable,
    check_own_arrays,
    check_expected_by_set,
)
ADAPTIVE_CHECKS: tuple[Callable[[AdaptiveWorld], None], ...] = (check_rounds, check_adaptive_repeatable)


def _evaluated(world: Any) -> Any:
    """Return what the printed form of `world` evaluates to."""
    cls = type(world)
    scope = {kind.__name__: kind for kind in (*subclasses(AnyWorld), Game, cls)}
    code = repr(world).replace(cls.__qualname__, cls.__name__)  # a class inside a function has a name that is no code
    try:
        return eval(code, {**vars(sys.modules[cls.__module__]), **scope})
    except Exception as problem:
        rule = "the code that makes it (or set the class variable `printable = False`)"
        raise AssertionError(f"a world must print as {rule}, got {code}: {problem}") from problem


def require_array(name: str, array: Any, dtype: Any) -> None:
    """Raise unless compiled code can take `array` as it is."""
    require(isinstance(array, np.ndarray), f"{name} must be an array, got {array!r}")
    require(array.dtype == dtype, f"{name} must be of type {dtype.__name__}, got {array.dtype}")
    require(array.flags.c_contiguous, f"{name} must be contiguous: compiled code reads it row by row")


def require_block(block: Any, kind: Any, types: tuple[Any, ...]) -> None:
    """Raise unless `block` is of its `kind` and compiled code can take its arrays as they are."""
    require(isinstance(block, kind), f"blocks must yield {kind.__name__}(...), got {type(block).__name__}")
    for name, array, dtype in zip(block._fields, block, types, strict=True):
        if array is not None or name not in kind._field_defaults:
            require_array(name, array, dtype)


def _rounds(world: AdaptiveWorld, seed: int) -> Iterator[tuple[Mask, Floats]]:
    """Yield rounds against random probabilities."""
    run, laws = world.start(np.random.default_rng(seed)), np.random.default_rng(6)
    for _ in range(ADAPTIVE_ROUNDS):
        awake = run.awake()
        checked_awake_now(awake, world.n_arms)
        weights = laws.exponential(size=world.n_arms) * awake
        losses = run.losses(weights / weights.sum())
        yield awake, losses


def _copied(blocks: Any) -> list[Any]:
    """Return copies of the blocks as they are now."""
    return [type(block)(*(None if array is None else array.copy() for array in block)) for block in blocks]


def equal(first: Any, second: Any) -> bool:
    """Whether two blocks hold the same numbers; those of arms that are asleep may be NaN."""
    pairs: Iterator[tuple[Any, Any]] = zip(first, second, strict=True)
    return all((a is None and b is None) or np.array_equal(a, b, equal_nan=True) for a, b in pairs)


@contextmanager
def global_chance() -> Iterator[None]:
    """Reseed the global generators, so that a world that uses them no longer repeats."""
    ours, numpys = random.getstate(), np.random.get_state()  # noqa: NPY002  # the global state is the point
    random.seed(7)
    np.random.seed(7)  # noqa: NPY002
    try:
        yield
    finally:
        random.setstate(ours)
        np.random.set_state(numpys)  # noqa: NPY002

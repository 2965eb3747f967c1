"""`Auto()` in shops, beside other policies: the mean loss of customers to whom one product in stock is shown.

    python benchmarks/one_policy_shops.py [--shops 40] [--seed 0]        shops that are drawn at random
    python benchmarks/one_policy_shops.py --file FILE [--runs 40]        a shop of yours

FILE is a Parquet file with the columns dt (a day), hour, product_id, hourly_sale and hourly_stockout (0 or 1), one row
for each product and hour, as in FreshRetailNet-50K. The products that sell best are offered from 6 to 22 o'clock, 1 or
20 customers come in an hour, and each buys what is shown with probability sale / the 95 % quantile of positive sales.

The first column is the mean loss of `Auto()` over that of the best other policy, with the standard error of this ratio,
the second its 90 % quantile over the shops.
"""

import argparse
from pathlib import Path
from typing import Any

import numpy as np

import wakeful as wk
from wakeful.numerics.arrays import Floats, Mask

OTHERS: dict[str, wk.Policy] = {
    "SIExp3()": wk.SIExp3(),
    "SleepingUCB(0.5)": wk.SleepingUCB(0.5),
    "SleepingUCB(2)": wk.SleepingUCB(2.0),
    "SleepingThompson()": wk.SleepingThompson(),
}
DAYS, OPENS, CLOSES, CATALOGUE = 90, 6, 22, 160
HOURS = CLOSES - OPENS
Shop = tuple[Floats, Mask]  # (hours, products): the sale in an hour, and whether the product is in stock


def smooth(rng: np.random.Generator, steps: int, products: int, deviation: float, keep: float) -> Floats:
    """Return autoregressive walks of this stationary deviation, one a product."""
    walk = np.empty((steps, products))
    walk[0] = rng.normal(0.0, deviation, products)
    for t in range(1, steps):
        walk[t] = keep * walk[t - 1] + rng.normal(0.0, deviation * np.sqrt(1.0 - keep**2), products)
    return walk


def drawn_shop(rng: np.random.Generator, products: int) -> Shop:
    """Return a random shop: popularity, hours, weekdays, promotions and drift; what is sold out is back next morning.

    How much of each there is differs from shop to shop.
    """
    popularity = np.sort(rng.normal(0.0, rng.uniform(0.4, 1.0), CATALOGUE))[-products:]
    drift = smooth(rng, DAYS, products, rng.uniform(0.2, 0.7), rng.choice([0.9, 0.97, 0.99]))
    weekdays = rng.normal(0.0, 0.2, (7, 1)) + rng.normal(0.0, 0.1, (7, products))
    hours = smooth(rng, HOURS, products, 0.4, 0.8) + smooth(rng, HOURS, 1, 0.6, 0.8)
    promoted = np.zeros((DAYS, products))
    for day, product in zip(*np.nonzero(rng.random((DAYS, products)) < 0.02), strict=True):
        promoted[day : day + rng.integers(2, 8), product] = rng.uniform(0.3, 1.2)
    days = popularity + drift + weekdays[np.arange(DAYS) % 7] + promoted
    demand = np.exp(days[:, np.newaxis, :] + hours)
    shape = rng.uniform(0.7, 3.0)  # of the noise of one hour; below 1 most hours sell little
    wanted = demand * rng.gamma(shape, 1.0 / shape, demand.shape)
    stock = np.exp(rng.normal(rng.uniform(-0.2, 0.4), 0.4, (DAYS, 1, products))) * demand.sum(axis=1, keepdims=True)
    stock *= rng.random((DAYS, 1, products)) > 0.03  # not delivered
    sold = np.minimum(np.cumsum(wanted, axis=1), stock)
    left = np.concatenate([stock, stock - sold[:, :-1]], axis=1) > 1e-9
    sales = np.diff(sold, axis=1, prepend=0.0)
    return sales.reshape(-1, products), left.reshape(-1, products)


def read_shop(path: Path, products: int) -> Shop:
    """Return the products of a file that sell best."""
    import pandas as pd

    rows = pd.read_parquet(path)
    rows = rows[(rows.hour >= OPENS) & (rows.hour < CLOSES)]
    best = rows.groupby("product_id").hourly_sale.sum().nlargest(products).index
    sales, out = (
        rows.pivot(index=["dt", "hour"], columns="product_id", values=column)[best].to_numpy()
        for column in ("hourly_sale", "hourly_stockout")
    )
    return sales, out == 0


def mean_loss(policy: wk.Policy, shop: Shop, customers: int, seed: list[int]) -> float:
    """Play one run; return the expected loss of a customer, given what was shown."""
    sales, awake = shop
    open_hours = np.repeat(np.flatnonzero(awake.any(axis=1)), customers)
    expected = 1.0 - np.minimum(sales / np.quantile(sales[sales > 0.0], 0.95), 1.0)[open_hours]
    losses = (np.random.default_rng([*seed, 0]).random(expected.shape) < expected).astype(np.float64)
    arms = wk.play(policy, awake[open_hours], losses, np.random.default_rng([*seed, 1]))
    return float(expected[np.arange(arms.size), arms].mean())


def row(shops: list[Shop], customers: int, seed: int) -> str:
    """Play one run in every shop and return the line; a shop that is given often has a run of its own each time."""

    def played(policy: wk.Policy) -> Floats:
        return np.array([mean_loss(policy, shop, customers, [seed, run]) for run, shop in enumerate(shops)])

    own, found = played(wk.Auto()), {label: played(policy) for label, policy in OTHERS.items()}
    best = min(found, key=lambda label: found[label].mean())
    ratio = own.mean() / found[best].mean()
    error = (own - ratio * found[best]).std(ddof=1) / found[best].mean() / np.sqrt(len(shops))
    tail = np.quantile(own / np.min(list(found.values()), axis=0), 0.9)
    losses = " | ".join(f"{values.mean():.3f}" for values in (own, *found.values()))
    return f"| {ratio:.3f} +- {error:.3f} | {tail:.2f} | {shops[0][0].shape[1]}, {customers} | {losses} | {best} |"


def main() -> None:
    """Print a row for 10 and 30 products, with 1 and 20 customers an hour."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--shops", type=int, default=40, help="how many shops are drawn")
    options.add_argument("--runs", type=int, default=40, help="with a file: how many runs with 1 customer an hour")
    options.add_argument("--file", type=Path, help="a shop of yours")
    options.add_argument("--seed", type=int, default=0)
    given: Any = options.parse_args()
    print(f"| ratio | 90 % | products, customers | Auto() | {' | '.join(OTHERS)} | best other |")
    print(f"|---|---|---|---|{'---|' * len(OTHERS)}---|")
    for customers in (1, 20):
        for products in (10, 30):
            if given.file:
                shops = [read_shop(given.file, products)] * (given.runs if customers == 1 else max(given.runs // 5, 2))
            else:
                shops = [drawn_shop(np.random.default_rng([given.seed, n]), products) for n in range(given.shops)]
            print(row(shops, customers, given.seed), flush=True)


if __name__ == "__main__":
    main()

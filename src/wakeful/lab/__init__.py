"""Simulations that compare policies: `simulate` on any executor, its results and figures."""

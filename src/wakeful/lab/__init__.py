"""Policies compared in worlds: simulations on any executor, their results and figures."""

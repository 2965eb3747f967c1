"""Numerical code that is not about bandits: compilation and its cache, exact arithmetic, tables of sets."""

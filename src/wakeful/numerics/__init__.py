"""Arithmetic that knows nothing of bandits: compiled code, exact probabilities, tables of awake sets."""

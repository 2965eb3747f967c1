"""Policies that choose two arms for a duel: what every dueling policy must have, and one file for each."""

"""Policies that choose one of the awake arms: what every policy must have, and one file for each policy."""

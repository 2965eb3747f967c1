"""Policies judged by a log of decisions that somebody else made: off-policy evaluation."""

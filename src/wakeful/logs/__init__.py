"""Logs of decisions that were made somewhere: read them, write them, and judge other policies by them."""

"""Logs of decisions that were made somewhere: read them from files and tables, check them, and write them."""

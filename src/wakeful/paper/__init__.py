"""The paper as a program: its experiments, its claims, and a report of both."""

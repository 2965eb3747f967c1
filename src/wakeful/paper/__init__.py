"""The paper as a program: it runs the experiments, judges the claims, and writes a report."""

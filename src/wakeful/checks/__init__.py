"""What users run on their own policies: the suites that ours pass."""

"""The classes to embed in a program, `Bandit` and `DuelingBandit`: a policy with names, a random stream and files."""

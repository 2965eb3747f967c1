"""How to choose among the arms that are awake: the contract, its kernels, and one file for each policy."""

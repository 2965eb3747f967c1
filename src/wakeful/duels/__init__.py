"""How to choose a pair of arms: the contract, its kernels, and one file for each dueling policy."""

"""One file for each resource of the contract."""

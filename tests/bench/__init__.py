"""Speed of MCIR beside its peers: `python -m tests.bench`."""

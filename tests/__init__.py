"""The tests of MCIR. A package, so that `tests.support` is found from a checkout."""

# The files here run as real processes, so that a broken entry point or a closed pipe shows.
# ruff: noqa: F821
import lit.formats

config.test_format = lit.formats.ShTest()

"""Endurance: what tools meet in the wild. Nothing may be lost, nothing may hang, no traceback may show.

`python -m tests.endurance --minutes 30` searches for long; `fuzz.py` has the kinds of cases and `oracle.py` what must
hold after each. The other tests here are about files, processes and sizes.
"""

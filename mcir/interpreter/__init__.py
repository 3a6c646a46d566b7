"""The interpreter: graphs and regions in NumPy, and the proof that one equals the other. Needs the extra `run`."""

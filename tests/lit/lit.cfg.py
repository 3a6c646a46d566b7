# Configuration of `lit tests/lit`; pytest reads the same one through lit's discovery (tests/conftest.py).
# ruff: noqa: F821, E402
# (lit defines `config` for this file.)
import importlib.util
import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from tests.support.lit_format import InProcessTest

config.name = "mcir"
config.test_format = InProcessTest()
config.suffixes = [".mcir"]
config.excludes = ["Inputs"]
config.test_source_root = str(HERE)
config.test_exec_root = str(ROOT / "build" / "lit")

# The tools of the environment that runs lit come first on PATH.
scripts = str(Path(sys.executable).parent)
config.environment["PATH"] = os.pathsep.join([scripts, os.environ.get("PATH", "")])
config.environment["COLUMNS"] = "80"
if "PYTHONPATH" in os.environ:  # the checkout that is tested, where another one is installed
    config.environment["PYTHONPATH"] = os.environ["PYTHONPATH"]

config.substitutions.append(("%examples", str(ROOT / "examples")))
config.substitutions.append(("%models", str(ROOT / "tests" / "models")))

# `REQUIRES: numpy` or `REQUIRES: onnx`: what the installed extras bring.
for module in ("numpy", "onnx"):
    if importlib.util.find_spec(module):
        config.available_features.add(module)

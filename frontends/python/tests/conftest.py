"""Tests use the package beside them, and train with the library that is built: WEIR_LIBRARY,
or the release build's."""

import os
import sys
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1]
BUILT = PACKAGE.parents[1] / "build" / "release" / "frontends" / "c" / "libweir.so"

sys.path.insert(0, str(PACKAGE))
if "WEIR_LIBRARY" not in os.environ and BUILT.exists():
    os.environ["WEIR_LIBRARY"] = str(BUILT)

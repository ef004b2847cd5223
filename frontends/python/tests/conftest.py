"""Tests that train need the library: WEIR_LIBRARY, or the package's own, or the release build's."""

import os
from pathlib import Path

BUILT = Path(__file__).resolve().parents[3] / "build" / "release" / "frontends" / "c" / "libweir.so"

if "WEIR_LIBRARY" not in os.environ and BUILT.exists():
    os.environ["WEIR_LIBRARY"] = str(BUILT)

"""How much of a long test is done by default: enough to notice a break within ten minutes of CI on two cores.

`MAJLIS_TEST_THOROUGH=1` does all of it: before a release, and after a change of what the test is about.
"""

from __future__ import annotations

import os

THOROUGH = os.environ.get("MAJLIS_TEST_THOROUGH") == "1"

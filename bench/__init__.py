"""How fast Majlis is, as ratios within one run: against the raw database, or against itself under other conditions."""

import warnings

# The PostgreSQL wheel looks for a runtime folder at import; it does not need one.
warnings.filterwarnings("ignore", message="XDG_RUNTIME_DIR")

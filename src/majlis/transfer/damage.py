"""What the stored bytes of a damaged row can make of reading it."""

from __future__ import annotations

import sqlalchemy as sa

DAMAGE = (ValueError, TypeError, OverflowError, sa.exc.OperationalError)

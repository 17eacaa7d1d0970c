"""Prints the OpenAPI document, from which the TypeScript client's types are generated."""

import json
import sys

from majlis.api.app import openapi_document


def main() -> int:
    document = json.dumps(openapi_document(), ensure_ascii=False, indent=1, sort_keys=True)
    # In UTF-8, whatever the locale.
    sys.stdout.buffer.write(document.encode())
    return 0


if __name__ == "__main__":
    sys.exit(main())

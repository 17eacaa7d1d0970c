"""Prints the OpenAPI document, from which the TypeScript client's types are made."""

import json
import sys

from majlis.api.app import openapi_document


def main() -> int:
    json.dump(openapi_document(), sys.stdout, ensure_ascii=False, indent=1, sort_keys=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

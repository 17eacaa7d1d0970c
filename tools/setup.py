"""`make setup` starts here, with any Python version: this file must parse on old ones too."""

import sys


def main() -> int:
    if sys.version_info < (3, 11):  # noqa: UP036 - may run on an older Python
        version = ".".join(str(part) for part in sys.version_info[:3])
        print(f"setup: Python 3.11 or newer is required, this is {version}; try: make PYTHON=python3.12 setup")
        return 2
    from tools import environment

    return environment.main(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())

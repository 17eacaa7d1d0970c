"""The `demo` model: a few rules, no key, no network. To add a rule, add it to `rules.py`."""

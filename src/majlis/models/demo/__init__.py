"""The `demo` model: a few rules, no key, no network, and honest about it. To add a rule, add it to `rules.py`."""

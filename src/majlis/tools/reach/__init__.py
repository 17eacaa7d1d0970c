"""Which hosts, addresses and secrets tools may use, as the settings allow."""

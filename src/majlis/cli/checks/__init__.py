"""The checks of `majlis doctor`. They change and create nothing."""

"""The tools that every agent or every mind of a kind has, one module for each thing they act on."""

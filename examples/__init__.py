"""Agents for real uses, each a folder with one file that describes it. `python -m examples NAME --model …` runs one."""

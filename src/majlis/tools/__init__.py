"""What agents can do, a file for each tool. Tools act through the domain's verbs only."""

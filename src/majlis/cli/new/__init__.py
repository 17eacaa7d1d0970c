"""`majlis new`: templates of agents. `templates/` has a folder for each."""

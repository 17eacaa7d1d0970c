"""`majlis new`: agent templates. `templates/` has a folder for each."""

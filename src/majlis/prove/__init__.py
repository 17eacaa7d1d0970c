"""`majlis prove`: runs the real code under thousands of simulated schedules and checks what Majlis promises."""

"""The tools that come with Majlis, for all agents or for all agents of one mind. One module per noun."""

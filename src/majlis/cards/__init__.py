"""Cards: questions and requests for permission that agents put to the people of a space."""

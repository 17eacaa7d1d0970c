"""Models of the providers that pydantic-ai supports."""

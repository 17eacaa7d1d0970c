"""Web push: notifications of browsers in which the app is not open."""

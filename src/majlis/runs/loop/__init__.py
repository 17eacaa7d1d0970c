"""One run at work: perceive, ask the model, call tools, until it ends or pauses."""

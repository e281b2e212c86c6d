"""An app whose operations show how the doors behave; only servers under test install it."""

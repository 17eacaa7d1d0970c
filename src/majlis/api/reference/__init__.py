"""The API's reference: what the OpenAPI document says beside types, and the page that shows it."""

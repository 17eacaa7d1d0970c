"""The bytes of files: the store, uploads, types, and what is read out of them. The database's part is in `spaces`."""

"""Tables, migrations, transactions and ids: everything that knows about SQL engines."""

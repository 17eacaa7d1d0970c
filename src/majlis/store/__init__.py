"""Tables, migrations, transactions and ids: the code that depends on the database."""

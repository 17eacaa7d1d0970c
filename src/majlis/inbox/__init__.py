"""Who is owed what: deliveries, written in the transaction of their cause; and the clock that makes things due."""

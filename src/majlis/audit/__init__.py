"""The audit log: who did what to the gateway, sealed into a hash chain (G9)."""

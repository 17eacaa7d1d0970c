"""Storms: real processes, PostgreSQL and NATS under real faults, and an account of everything afterwards."""

"""Algebra on CasADi vectors, and named parts of flat vectors."""

"""The equations as CasADi expressions: one algorithm a module."""

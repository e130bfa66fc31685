"""From CasADi expressions to plain C."""

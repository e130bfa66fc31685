"""The articulated-body recursion and what its schedule is made of."""

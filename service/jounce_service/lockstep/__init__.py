"""The lockstep clock: pure, without input or output."""

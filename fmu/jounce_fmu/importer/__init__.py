"""Runs FMUs: ours and others', in this process and in one of their own."""

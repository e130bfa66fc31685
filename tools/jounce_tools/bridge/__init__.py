"""``jounce bridge``: the bridges of the client, as commands."""

"""The manoeuvres, by what they are about: each a function of a bench and settings that gives what was found."""

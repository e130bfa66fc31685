"""jounce_fmu: builds, describes, packs and hosts FMUs; the C runtime in ``runtime/`` knows no vehicle."""

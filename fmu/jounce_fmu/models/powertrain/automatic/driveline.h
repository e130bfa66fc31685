/* Places in d of what engine, converter and gears add. */
enum {
    N_FULL = 24, /* points of the engine's maps and of the converter's table */
    N_CLOSED = 5,
    N_CONVERTER = 11,
    N_GEARS = 6,
    D_FULL = D_DRIVELINE,
    D_CLOSED = D_FULL + 2 * N_FULL,
    D_COEFFICIENTS = D_CLOSED + 2 * N_CLOSED,
    D_RATIOS = D_COEFFICIENTS + JN_CONVERTER_STEPS + 1,
    D_GEARS = D_RATIOS + JN_CONVERTER_STEPS + 1, /* reverse, then 1 and up */
    D_LOW = D_GEARS + 1 + N_GEARS, /* ratio of the transfer case's low range */
    D_REACTION, /* 1: the engine's inertia reacts on the chassis */
    JN_N_D
};

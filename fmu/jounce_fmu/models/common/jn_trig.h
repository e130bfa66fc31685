/* Trigonometry for the number type T of jn_lanes.h: the same bits for every number of lanes and with every C library.
 *
 * The functions use only + - * / sqrt floor and selections, which are all correctly rounded. They are power series
 * after range reduction, with a relative error of a few 1e-16. Arguments of sin and cos may be up to about 1e5 rad,
 * which is more than an angle of a mechanism needs.
 */

/* Subtracts from x its nearest multiple k of pi/2, with pi/2 in two parts (Cody and Waite). */
JN_FN T JN_NAME(jn_reduce)(T x, T *k) {
    *k = JN_FLOOR(x * JN_CONST(0.63661977236758134308) + JN_CONST(0.5));
    return (x - *k * JN_CONST(1.57079632673412561417)) - *k * JN_CONST(6.07710050650619224932e-11);
}

/* Series of sin to y^17 and of cos to y^16 for |y| <= pi/4. */
JN_FN T JN_NAME(jn_sin_series)(T y) {
    const T z = y * y;
    T s = JN_CONST(1.0 / 355687428096000.0);
    s = JN_CONST(-1.0 / 1307674368000.0) + z * s;
    s = JN_CONST(1.0 / 6227020800.0) + z * s;
    s = JN_CONST(-1.0 / 39916800.0) + z * s;
    s = JN_CONST(1.0 / 362880.0) + z * s;
    s = JN_CONST(-1.0 / 5040.0) + z * s;
    s = JN_CONST(1.0 / 120.0) + z * s;
    s = JN_CONST(-1.0 / 6.0) + z * s;
    return y + y * (z * s);
}

JN_FN T JN_NAME(jn_cos_series)(T y) {
    const T z = y * y;
    T c = JN_CONST(1.0 / 20922789888000.0);
    c = JN_CONST(-1.0 / 87178291200.0) + z * c;
    c = JN_CONST(1.0 / 479001600.0) + z * c;
    c = JN_CONST(-1.0 / 3628800.0) + z * c;
    c = JN_CONST(1.0 / 40320.0) + z * c;
    c = JN_CONST(-1.0 / 720.0) + z * c;
    c = JN_CONST(1.0 / 24.0) + z * c;
    c = JN_CONST(-0.5) + z * c;
    return JN_CONST(1.0) + z * c;
}

/* sin(y + k pi/2): the sine of y for even k, the cosine for odd k, with the sign changed if k mod 4 is 2 or 3. */
JN_FN T JN_NAME(jn_quadrant)(T y, T k) {
    const T half = k * JN_CONST(0.5), quarter = JN_FLOOR(half) * JN_CONST(0.5);
    const T value = JN_CHOOSE(JN_LT(JN_FLOOR(half), half), JN_NAME(jn_cos_series)(y), JN_NAME(jn_sin_series)(y));
    return JN_CHOOSE(JN_LT(JN_FLOOR(quarter), quarter), -value, value);
}

JN_FN T JN_NAME(jn_sin)(T x) {
    T k;
    const T y = JN_NAME(jn_reduce)(x, &k);
    return JN_NAME(jn_quadrant)(y, k);
}

JN_FN T JN_NAME(jn_cos)(T x) {
    T k;
    const T y = JN_NAME(jn_reduce)(x, &k);
    return JN_NAME(jn_quadrant)(y, k + JN_CONST(1.0));
}

/* atan of 0 <= t <= 1: two half-angle steps, atan t = 2 atan(t / (1 + sqrt(1 + t^2))), and then its series. */
JN_FN T JN_NAME(jn_atan_unit)(T t) {
    const T one = JN_CONST(1.0);
    const T half = t / (one + JN_SQRT(one + t * t));
    const T v = half / (one + JN_SQRT(one + half * half)), z = v * v;
    T s = JN_CONST(1.0 / 23.0);
    s = JN_CONST(1.0 / 21.0) - z * s;
    s = JN_CONST(1.0 / 19.0) - z * s;
    s = JN_CONST(1.0 / 17.0) - z * s;
    s = JN_CONST(1.0 / 15.0) - z * s;
    s = JN_CONST(1.0 / 13.0) - z * s;
    s = JN_CONST(1.0 / 11.0) - z * s;
    s = JN_CONST(1.0 / 9.0) - z * s;
    s = JN_CONST(1.0 / 7.0) - z * s;
    s = JN_CONST(1.0 / 5.0) - z * s;
    s = JN_CONST(1.0 / 3.0) - z * s;
    return JN_CONST(4.0) * (v - v * (z * s));
}

/* Angle of (x, y) as in C's atan2, except that -0 counts as +0 and the angle of (0, 0) is 0. */
JN_FN T JN_NAME(jn_atan2)(T y, T x) {
    const T ay = JN_ABS(y), ax = JN_ABS(x), zero = JN_CONST(0.0);
    const T large = JN_MAX(JN_MAX(ay, ax), JN_CONST(1e-300)), small = JN_MIN(ay, ax);
    T angle = JN_NAME(jn_atan_unit)(small / large);
    angle = JN_CHOOSE(JN_LT(ax, ay), JN_CONST(1.57079632679489661923) - angle, angle);
    angle = JN_CHOOSE(JN_LT(x, zero), JN_CONST(3.14159265358979323846) - angle, angle);
    return JN_CHOOSE(JN_LT(y, zero), -angle, angle);
}

JN_FN T JN_NAME(jn_atan)(T x) { return JN_NAME(jn_atan2)(x, JN_CONST(1.0)); }

JN_FN T JN_NAME(jn_asin)(T x) {
    const T one = JN_CONST(1.0);
    return JN_NAME(jn_atan2)(x, JN_SQRT(JN_MAX((one - x) * (one + x), JN_CONST(0.0))));
}

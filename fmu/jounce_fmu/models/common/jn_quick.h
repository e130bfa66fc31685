/* Short functions for code that calls many of them, for the number type T of jn_lanes.h: the same bits for every number
 * of lanes and with every C library. They have one division at most, where those of jn_trig.h have more, and keep what
 * is emitted with them within the caches of the processor.
 *
 * Polynomials interpolate at Chebyshev nodes (60 digits); errors are absolute where none is said to be relative.
 */

/* atan x, relative error 2e-13. With t = min(|x|, 1 / |x|), y = t or (t - 1) / (t + 1), so that |y| <= tan(pi/8). */
JN_INTO T JN_NAME(jn_quick_atan)(T x) {
    const T one = JN_CONST(1.0), size = JN_ABS(x), low = JN_MIN(size, one), high = JN_MAX(size, one);
    const JN_MASK middle = JN_LT(high * JN_CONST(0.41421356237309504880), low);
    const T y = (low - JN_IF(middle, high)) / (high + JN_IF(middle, low)), z = y * y, w = z * z;
    const T a = JN_CONST(-0.33333333333266146) + z * JN_CONST(0.19999999949822453);
    const T b = JN_CONST(-0.1428570810699188) + z * JN_CONST(0.11110819586603747);
    const T c = JN_CONST(-0.09084099522493076) + z * JN_CONST(0.07604778003555679);
    const T d = JN_CONST(-0.06027206570111165) + z * JN_CONST(0.03295499114305327);
    T angle;
    angle = JN_IF(middle, JN_CONST(0.78539816339744830962)) + (y + y * (z * ((a + w * b) + w * w * (c + w * d))));
    angle = JN_CHOOSE(JN_LT(one, size), JN_CONST(1.57079632679489661923) - angle, angle);
    return JN_SIGNED(angle, x);
}

/* x less its nearest multiple k pi, in two parts (Cody and Waite); *sign is -1 for odd k, else 1. |x| up to 1e5. */
JN_FN T JN_NAME(jn_quick_reduce)(T x, T *sign) {
    const T k = JN_FLOOR(x * JN_CONST(0.31830988618379067154) + JN_CONST(0.5)), half = k * JN_CONST(0.5);
    *sign = JN_CONST(1.0) - JN_CONST(4.0) * (half - JN_FLOOR(half));
    return (x - k * JN_CONST(3.14159265346825122833)) - k * JN_CONST(1.21542010130123852029e-10);
}

/* sin y and cos y for |y| <= pi/2. */
JN_FN T JN_NAME(jn_quick_sine)(T y) {
    const T z = y * y, w = z * z;
    T p = JN_CONST(-2.503674197012488e-08), q = JN_CONST(1.5502454316596913e-10);
    p = JN_CONST(-0.00019841268708606193) + w * p;
    q = JN_CONST(2.7557123116044156e-06) + w * q;
    p = JN_CONST(-0.1666666666665846) + w * p;
    q = JN_CONST(0.008333333330939175) + w * q;
    return y + y * (z * (p + z * q));
}

JN_FN T JN_NAME(jn_quick_cosine)(T y) {
    const T z = y * y, w = z * z;
    T p = JN_CONST(-2.753433865907823e-07), q = JN_CONST(2.004375717333124e-09);
    p = JN_CONST(-0.001388888719588182) + w * p;
    q = JN_CONST(2.4801294123067073e-05) + w * q;
    p = JN_CONST(-0.4999999999987738) + w * p;
    q = JN_CONST(0.041666666630884024) + w * q;
    return JN_CONST(1.0) + z * (p + z * q);
}

/* Error 3e-13. */
JN_FN T JN_NAME(jn_quick_sin)(T x) {
    T sign;
    const T y = JN_NAME(jn_quick_reduce)(x, &sign);
    return sign * JN_NAME(jn_quick_sine)(y);
}

/* Error 3e-12. */
JN_FN T JN_NAME(jn_quick_cos)(T x) {
    T sign;
    const T y = JN_NAME(jn_quick_reduce)(x, &sign);
    return sign * JN_NAME(jn_quick_cosine)(y);
}

/* Relative error 4e-12 up to 1, and that times its size beyond. */
JN_FN T JN_NAME(jn_quick_tan)(T x) {
    T sign;
    const T y = JN_NAME(jn_quick_reduce)(x, &sign);
    return JN_NAME(jn_quick_sine)(y) / JN_NAME(jn_quick_cosine)(y);
}

/* e^x, relative error 2e-13, of |x| <= 20, to which x is clipped: series of the 64th part, squared six times. */
JN_FN T JN_NAME(jn_quick_exp)(T x) {
    const T y = JN_MAX(JN_MIN(x, JN_CONST(20.0)), JN_CONST(-20.0)) * JN_CONST(1.0 / 64.0), z = y * y;
    T p = JN_CONST(1.0 / 3628800.0), q = JN_CONST(1.0 / 39916800.0);
    p = JN_CONST(1.0 / 40320.0) + z * p;
    q = JN_CONST(1.0 / 362880.0) + z * q;
    p = JN_CONST(1.0 / 720.0) + z * p;
    q = JN_CONST(1.0 / 5040.0) + z * q;
    p = JN_CONST(1.0 / 24.0) + z * p;
    q = JN_CONST(1.0 / 120.0) + z * q;
    p = JN_CONST(0.5) + z * p;
    q = JN_CONST(1.0 / 6.0) + z * q;
    p = (JN_CONST(1.0) + z * p) + y * (JN_CONST(1.0) + z * q);
    p = p * p;
    p = p * p;
    p = p * p;
    p = p * p;
    p = p * p;
    return p * p;
}

/* Natural logarithm, relative error 1e-13, of 1e-6 <= x <= 1e6, to which x is clipped: of the 32nd root, by
 * ln y = 2 artanh z, z = (y - 1) / (y + 1). */
JN_FN T JN_NAME(jn_quick_log)(T x) {
    T y = JN_MAX(JN_MIN(x, JN_CONST(1e6)), JN_CONST(1e-6)), z, w, s;
    y = JN_SQRT(JN_SQRT(JN_SQRT(JN_SQRT(JN_SQRT(y)))));
    z = (y - JN_CONST(1.0)) / (y + JN_CONST(1.0));
    w = z * z;
    s = JN_CONST(1.0 / 17.0);
    s = JN_CONST(1.0 / 15.0) + w * s;
    s = JN_CONST(1.0 / 13.0) + w * s;
    s = JN_CONST(1.0 / 11.0) + w * s;
    s = JN_CONST(1.0 / 9.0) + w * s;
    s = JN_CONST(1.0 / 7.0) + w * s;
    s = JN_CONST(1.0 / 5.0) + w * s;
    s = JN_CONST(1.0 / 3.0) + w * s;
    return JN_CONST(64.0) * (z + z * (w * s));
}

/* The number type of emitted lane code: include with JN_LANES 1 or 4, then the emitted text, once a type.
 *
 * One lane is a double; four lanes are a GCC/Clang vector, one corner a lane. Every operation rounds alike in
 * both, so both give the same bits. Vector arrays need no alignment. Compilers without vector extensions
 * build the one-lane form alone.
 */
#include <math.h>

#ifndef JN_STRIDE
#define JN_STRIDE 4 /* doubles between numbers of one lane; 1 for functions called once a vehicle */
#endif
#undef T
#undef JN_NAME
#undef JN_FN
#undef JN_CONST
#undef JN_GET
#undef JN_PUT
#undef JN_SQRT
#undef JN_ABS
#undef JN_FLOOR
#undef JN_SIN
#undef JN_COS
#undef JN_ATAN
#undef JN_ASIN
#undef JN_ATAN2
#undef JN_MIN
#undef JN_MAX
#undef JN_LT
#undef JN_LE
#undef JN_EQ
#undef JN_NE
#undef JN_AND
#undef JN_OR
#undef JN_IF

#if JN_LANES == 1
#define T double
#define JN_NAME(f) f##_1
#define JN_FN static
#define JN_CONST(c) (c)
#define JN_GET(a, k) (a)[(k) * JN_STRIDE]
#define JN_PUT(a, k, x) (a)[(k) * JN_STRIDE] = (x)
#define JN_SQRT(x) sqrt(x)
#define JN_ABS(x) fabs(x)
#define JN_FLOOR(x) floor(x)
#define JN_SIN(x) sin(x)
#define JN_COS(x) cos(x)
#define JN_ATAN(x) atan(x)
#define JN_ASIN(x) asin(x)
#define JN_ATAN2(y, x) atan2(y, x)
#define JN_MIN(a, b) ((a) < (b) ? (a) : (b))
#define JN_MAX(a, b) ((a) > (b) ? (a) : (b))
#define JN_LT(a, b) ((double)((a) < (b)))
#define JN_LE(a, b) ((double)((a) <= (b)))
#define JN_EQ(a, b) ((double)((a) == (b)))
#define JN_NE(a, b) ((double)((a) != (b)))
#define JN_AND(a, b) ((double)((a) != 0.0 && (b) != 0.0))
#define JN_OR(a, b) ((double)((a) != 0.0 || (b) != 0.0))
#define JN_IF(c, x) ((c) != 0.0 ? (x) : 0.0)
#else
#ifndef JN_VECTOR_TYPES
#define JN_VECTOR_TYPES
typedef double jn_v4 __attribute__((vector_size(32), aligned(8), may_alias));
typedef long long jn_m4 __attribute__((vector_size(32), aligned(8), may_alias));
#define JN_SELECT(m, a, b) ((jn_v4)(((m) & (jn_m4)(a)) | (~(m) & (jn_m4)(b))))
#define JN_ONE_IF(m) ((jn_v4)((m) & (jn_m4)JN_SPLAT(1.0)))
#define JN_SPLAT(c) ((jn_v4){(c), (c), (c), (c)})
#define JN_EACH(f, x) ((jn_v4){f((x)[0]), f((x)[1]), f((x)[2]), f((x)[3])})
#endif
#define T jn_v4
#define JN_NAME(f) f##_4
#if defined(__x86_64__)
#define JN_FN __attribute__((target("avx2"))) static
#else
#define JN_FN static
#endif
#define JN_CONST(c) JN_SPLAT(c)
#define JN_GET(a, k) (*(const jn_v4 *)((a) + (k) * JN_STRIDE))
#define JN_PUT(a, k, x) (*(jn_v4 *)((a) + (k) * JN_STRIDE) = (x))
#define JN_SQRT(x) JN_EACH(sqrt, x)
#define JN_ABS(x) JN_SELECT((x) < JN_SPLAT(0.0), -(x), (x) + JN_SPLAT(0.0))
#define JN_FLOOR(x) JN_EACH(floor, x)
#define JN_SIN(x) JN_EACH(sin, x)
#define JN_COS(x) JN_EACH(cos, x)
#define JN_ATAN(x) JN_EACH(atan, x)
#define JN_ASIN(x) JN_EACH(asin, x)
#define JN_ATAN2(y, x) \
    ((jn_v4){atan2((y)[0], (x)[0]), atan2((y)[1], (x)[1]), atan2((y)[2], (x)[2]), atan2((y)[3], (x)[3])})
#define JN_MIN(a, b) JN_SELECT((a) < (b), a, b)
#define JN_MAX(a, b) JN_SELECT((a) > (b), a, b)
#define JN_LT(a, b) JN_ONE_IF((a) < (b))
#define JN_LE(a, b) JN_ONE_IF((a) <= (b))
#define JN_EQ(a, b) JN_ONE_IF((a) == (b))
#define JN_NE(a, b) JN_ONE_IF((a) != (b))
#define JN_AND(a, b) JN_ONE_IF(((a) != JN_SPLAT(0.0)) & ((b) != JN_SPLAT(0.0)))
#define JN_OR(a, b) JN_ONE_IF(((a) != JN_SPLAT(0.0)) | ((b) != JN_SPLAT(0.0)))
#define JN_IF(c, x) ((jn_v4)(((c) != JN_SPLAT(0.0)) & (jn_m4)(x)))
#endif

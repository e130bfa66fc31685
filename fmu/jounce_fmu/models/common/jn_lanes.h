/* The number type of emitted lane code. Include it with JN_LANES 1, 2 or 4, then the emitted text, once per type.
 *
 * With one lane the type is a double; with more it is a GCC/Clang vector, with one wheel corner per lane. Every
 * operation rounds in the same way in all, so all give the same bits. Two lanes serve code for four, where two of the
 * four call other functions. Arrays of vectors need no alignment. Compilers
 * without vector extensions build the one-lane form only.
 */
#include <math.h>

/* With ipa-ra gcc calls functions whose registers it knows without clearing the upper halves of the wide ones, and the
 * processor makes their narrow instructions wait for what stands there, up to 12 % of a step. clang knows no such option. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("no-ipa-ra")
#endif

#ifndef JN_STRIDE
#define JN_STRIDE 4 /* the model's number of lanes, or 1 for functions called once per vehicle: doubles between numbers */
#endif
#if defined(__GNUC__)
#define JN_UNUSED __attribute__((unused)) /* a library uses only some of the emitted functions */
#define JN_APART __attribute__((noinline)) JN_FN /* a piece of a long function */
#else
#define JN_UNUSED
#define JN_APART JN_FN
#endif
#ifndef JN_RESTRICT
#if !defined(__cplusplus)
#define JN_RESTRICT restrict
#elif defined(__GNUC__)
#define JN_RESTRICT __restrict__ /* C++ has no such keyword */
#else
#define JN_RESTRICT
#endif
#endif
#if defined(__GNUC__) && (defined(__x86_64__) || defined(__aarch64__))
#define JN_FOUR_LANES 1
#endif
#undef T
#undef JN_NAME
#undef JN_FN
#undef JN_INTO
#undef JN_CONST
#undef JN_GET
#undef JN_SAME
#undef JN_PUT
#undef JN_SQRT
#undef JN_ABS
#undef JN_SIGNED
#undef JN_FLOOR
#undef JN_SIN
#undef JN_COS
#undef JN_ATAN
#undef JN_ASIN
#undef JN_ATAN2
#undef JN_TAN
#undef JN_EXP
#undef JN_LOG
#undef JN_QUICK_SIN
#undef JN_QUICK_COS
#undef JN_QUICK_ATAN
#undef JN_MIN
#undef JN_MAX
#undef JN_LT
#undef JN_LE
#undef JN_EQ
#undef JN_NE
#undef JN_AND
#undef JN_OR
#undef JN_IF
#undef JN_ONE
#undef JN_NOT
#undef JN_MASK
#undef JN_CHOOSE
#undef JN_ANY
#undef JN_SPLAT
#undef JN_EACH
#undef JN_FROM
#undef JN_TWO
#undef JN_TWO_NAME

#if JN_LANES == 1
#define JN_TWO 1 /* how many lanes are taken two at once, and by functions of which name */
#define JN_TWO_NAME(f) f##_1
#define T double
#define JN_NAME(f) f##_1
#define JN_FN JN_UNUSED static
#define JN_INTO JN_FN
#define JN_CONST(c) (c)
#define JN_GET(a, k) (a)[(k) * JN_STRIDE]
#define JN_SAME(a, k) (a)[k] /* reads an input that all lanes share */
#define JN_PUT(a, k, x) (a)[(k) * JN_STRIDE] = (x)
#define JN_SQRT(x) sqrt(x)
#define JN_ABS(x) fabs(x)
#define JN_SIGNED(x, by) copysign(x, by) /* of x >= 0 */
#define JN_FLOOR(x) floor(x)
#define JN_MIN(a, b) ((a) < (b) ? (a) : (b))
#define JN_MAX(a, b) ((a) > (b) ? (a) : (b))
#define JN_MASK int
#define JN_LT(a, b) ((a) < (b))
#define JN_LE(a, b) ((a) <= (b))
#define JN_EQ(a, b) ((a) == (b))
#define JN_NE(a, b) ((a) != (b))
#define JN_AND(a, b) ((a) & (b))
#define JN_OR(a, b) ((a) | (b))
#define JN_NOT(a) (!(a))
#define JN_IF(c, x) ((c) ? (x) : 0.0)
#define JN_ONE(c) ((c) ? 1.0 : 0.0)
#define JN_CHOOSE(c, a, b) ((c) ? (a) : (b))
#define JN_ANY(c) (c)
#define JN_EACH(f, x) f(x)
#define JN_FROM(f) f(0) /* of f(lane), which wide registers take from others, not from memory */
#else
#ifndef JN_VECTOR_TYPES
#define JN_VECTOR_TYPES
typedef double jn_v4 __attribute__((vector_size(32), aligned(8), may_alias));
typedef long long jn_m4 __attribute__((vector_size(32), aligned(8), may_alias));
typedef double jn_v2 __attribute__((vector_size(16), aligned(8), may_alias));
typedef long long jn_m2 __attribute__((vector_size(16), aligned(8), may_alias));
#if defined(__x86_64__)
#include <immintrin.h>
#endif
#endif
#define JN_TWO 2
#define JN_TWO_NAME(f) f##_2
#if JN_LANES == 4
#define T jn_v4
#define JN_MASK jn_m4
#define JN_NAME(f) f##_4
#define JN_SPLAT(c) ((jn_v4){(c), (c), (c), (c)})
#define JN_EACH(f, x) ((jn_v4){f((x)[0]), f((x)[1]), f((x)[2]), f((x)[3])})
#define JN_FROM(f) ((jn_v4){f(0), f(1), f(2), f(3)})
#define JN_ANY(c) ((c)[0] | (c)[1] | (c)[2] | (c)[3])
#else
#define T jn_v2
#define JN_MASK jn_m2
#define JN_NAME(f) f##_2
#define JN_SPLAT(c) ((jn_v2){(c), (c)})
#define JN_EACH(f, x) ((jn_v2){f((x)[0]), f((x)[1])})
#define JN_FROM(f) ((jn_v2){f(0), f(1)})
#define JN_ANY(c) ((c)[0] | (c)[1])
#endif
#if defined(__x86_64__)
#define JN_FN __attribute__((target("avx2"), unused)) static
#else
#define JN_FN JN_UNUSED static
#endif
#define JN_INTO __attribute__((always_inline)) inline JN_FN /* short and often called: a call would save all wide registers */
#define JN_CONST(c) JN_SPLAT(c)
#define JN_GET(a, k) (*(const T *)((a) + (k) * JN_STRIDE))
#define JN_SAME(a, k) JN_SPLAT((a)[k])
#define JN_PUT(a, k, x) (*(T *)((a) + (k) * JN_STRIDE) = (x))
#define JN_SIGNED(x, by) ((T)((JN_MASK)(x) | ((JN_MASK)(by) & (JN_MASK)JN_CONST(-0.0))))
#define JN_LT(a, b) ((JN_MASK)((a) < (b)))
#define JN_LE(a, b) ((JN_MASK)((a) <= (b)))
#define JN_EQ(a, b) ((JN_MASK)((a) == (b)))
#define JN_NE(a, b) ((JN_MASK)((a) != (b)))
#define JN_AND(a, b) ((a) & (b))
#define JN_OR(a, b) ((a) | (b))
#define JN_NOT(a) (~(a))
#define JN_IF(c, x) ((T)((c) & (JN_MASK)(x)))
#define JN_ONE(c) JN_IF(c, JN_CONST(1.0))
#if defined(__x86_64__) && JN_LANES == 4
#undef JN_ANY
#define JN_ANY(c) _mm256_movemask_pd((__m256d)(c))
#define JN_SQRT(x) ((jn_v4)_mm256_sqrt_pd((__m256d)(x)))
#define JN_ABS(x) ((jn_v4)_mm256_andnot_pd(_mm256_set1_pd(-0.0), (__m256d)(x)))
#define JN_FLOOR(x) ((jn_v4)_mm256_floor_pd((__m256d)(x)))
#define JN_MIN(a, b) ((jn_v4)_mm256_min_pd((__m256d)(a), (__m256d)(b)))
#define JN_MAX(a, b) ((jn_v4)_mm256_max_pd((__m256d)(a), (__m256d)(b)))
#define JN_CHOOSE(c, a, b) ((jn_v4)_mm256_blendv_pd((__m256d)(b), (__m256d)(a), (__m256d)(c)))
#elif defined(__x86_64__)
#undef JN_ANY
#define JN_ANY(c) _mm_movemask_pd((__m128d)(c))
#define JN_SQRT(x) ((jn_v2)_mm_sqrt_pd((__m128d)(x)))
#define JN_ABS(x) ((jn_v2)_mm_andnot_pd(_mm_set1_pd(-0.0), (__m128d)(x)))
#define JN_FLOOR(x) ((jn_v2)_mm_floor_pd((__m128d)(x)))
#define JN_MIN(a, b) ((jn_v2)_mm_min_pd((__m128d)(a), (__m128d)(b)))
#define JN_MAX(a, b) ((jn_v2)_mm_max_pd((__m128d)(a), (__m128d)(b)))
#define JN_CHOOSE(c, a, b) ((jn_v2)_mm_blendv_pd((__m128d)(b), (__m128d)(a), (__m128d)(c)))
#else
#define JN_SQRT(x) JN_EACH(sqrt, x)
#define JN_ABS(x) JN_EACH(fabs, x)
#define JN_FLOOR(x) JN_EACH(floor, x)
#define JN_MIN(a, b) JN_CHOOSE(JN_LT(a, b), a, b)
#define JN_MAX(a, b) JN_CHOOSE(JN_LT(b, a), a, b)
#define JN_CHOOSE(c, a, b) ((T)(((c) & (JN_MASK)(a)) | (~(c) & (JN_MASK)(b))))
#endif
#endif

/* Transposes four rows of all lanes into four numbers for each of four lanes: to[4 c + k] = rows[JN_STRIDE k + c]. */
JN_FN void JN_NAME(jn_transpose)(const double *rows, double *to) {
#if JN_LANES == 4 && defined(__x86_64__)
    const __m256d a = _mm256_loadu_pd(rows), b = _mm256_loadu_pd(rows + JN_STRIDE);
    const __m256d c = _mm256_loadu_pd(rows + 2 * JN_STRIDE), d = _mm256_loadu_pd(rows + 3 * JN_STRIDE);
    const __m256d ab = _mm256_unpacklo_pd(a, b), cd = _mm256_unpacklo_pd(c, d);
    const __m256d ab2 = _mm256_unpackhi_pd(a, b), cd2 = _mm256_unpackhi_pd(c, d);
    _mm256_storeu_pd(to, _mm256_permute2f128_pd(ab, cd, 0x20));
    _mm256_storeu_pd(to + 4, _mm256_permute2f128_pd(ab2, cd2, 0x20));
    _mm256_storeu_pd(to + 8, _mm256_permute2f128_pd(ab, cd, 0x31));
    _mm256_storeu_pd(to + 12, _mm256_permute2f128_pd(ab2, cd2, 0x31));
#else
    int c, k;
    for (c = 0; c < 4; c++)
        for (k = 0; k < 4; k++) to[4 * c + k] = rows[JN_STRIDE * k + c];
#endif
}

#define JN_SIN(x) JN_NAME(jn_sin)(x)
#define JN_COS(x) JN_NAME(jn_cos)(x)
#define JN_ATAN(x) JN_NAME(jn_atan)(x)
#define JN_ASIN(x) JN_NAME(jn_asin)(x)
#define JN_ATAN2(y, x) JN_NAME(jn_atan2)(y, x)
#define JN_TAN(x) JN_NAME(jn_quick_tan)(x)
#define JN_EXP(x) JN_NAME(jn_quick_exp)(x)
#define JN_LOG(x) JN_NAME(jn_quick_log)(x)
#define JN_QUICK_SIN(x) JN_NAME(jn_quick_sin)(x)
#define JN_QUICK_COS(x) JN_NAME(jn_quick_cos)(x)
#define JN_QUICK_ATAN(x) JN_NAME(jn_quick_atan)(x)
#include "jn_trig.h"
#include "jn_quick.h"

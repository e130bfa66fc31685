/* See jn_area.h.
 *
 * A = sum of max(above, 0) dx over the rim, V = its gradient by the wheel's centre: the sum over the arc in contact of the
 * inward normal times the length, with linear shares at its ends. The deflection is that which gives the same A on flat
 * ground with the same points; l is the V of it. Force F(deflection) V / l is then the gradient of an elastic energy of A,
 * for F is the derivative of the tire's energy by the deflection and l that of A. Of strips side by side A and V are means.
 */
#include "jn_area.h"

#include <math.h>

#define JN_LANES 1
#include "jn_lanes.h"

#define WIDEST 1.3962634015954636 /* 80 deg */

void jn_area_rim(double *rim, int points) {
    const int middle = points / 2;
    int k;
    for (k = 0; k < points; k++) {
        const double angle = WIDEST * (k - middle) / middle;
        rim[k] = jn_sin_1(angle), rim[points + k] = jn_cos_1(angle);
    }
}

/* Length along x that a point stands for. */
static double weight(const double *rim, int points, double radius, int k) {
    const double from = rim[k > 0 ? k - 1 : 0], to = rim[k + 1 < points ? k + 1 : k];
    return 0.5 * radius * (to - from);
}

/* V: along x and up, of the points from `from` to `to`. */
static void gradient(const double *rim, int points, double radius, int from, int to, const double *above, double *ahead,
                     double *up) {
    const double *sine = rim + from, *cosine = rim + points + from;
    int k;
    *ahead = *up = 0.0;
    for (k = 0; k + 1 < to - from; k++) {
        const double a = above[k], b = above[k + 1];
        double share = 1.0;
        if (!(a > 0.0) && !(b > 0.0)) continue;
        if (!(a > 0.0)) share = b / (b - a);
        else if (!(b > 0.0)) share = a / (a - b);
        *ahead += share * radius * (cosine[k + 1] - cosine[k]);
        *up += share * radius * (sine[k + 1] - sine[k]);
    }
}

/* The deflection on flat ground with that area, and V there: between the points' heights the area is linear in it. */
static double flat(const double *rim, int points, double radius, double area, double *length) {
    const int middle = points / 2;
    double slope = weight(rim, points, radius, middle), from = 0.0, next = 0.0, sum = 0.0, share = 1.0, deflection;
    int k;
    for (k = middle + 1; k < points; k++) {
        double more;
        next = radius * (1.0 - rim[points + k]), more = slope * (next - from);
        if (sum + more >= area) break;
        sum += more;
        from = next;
        slope += 2.0 * weight(rim, points, radius, k);
    }
    deflection = from + (area - sum) / slope;
    if (k == points) k--;
    else share = (deflection - from) / (next - from);
    *length = 2.0 * radius * (rim[k - 1] + share * (rim[k] - rim[k - 1]));
    return deflection;
}

int jn_area_of(const double *rim, int points, double radius, int from, int to, const double *above, int strips, jn_area *a) {
    double area = 0.0, length, size;
    int k, strip;
    a->ahead = a->up = a->aside = 0.0;
    for (strip = 0; strip < strips; strip++, above += to - from) {
        double own = 0.0, ahead, up;
        for (k = from; k < to; k++)
            if (above[k - from] > 0.0) own += above[k - from] * weight(rim, points, radius, k);
        a->part[strip] = own;
        if (!(own > 0.0)) continue;
        gradient(rim, points, radius, from, to, above, &ahead, &up);
        area += own / strips;
        a->ahead += ahead / strips, a->up += up / strips;
        a->aside += (strip - 0.5 * (strips - 1)) * own / strips;
    }
    size = sqrt(a->ahead * a->ahead + a->up * a->up);
    if (!(area > 0.0) || !(size > 0.0)) return 0;
    a->aside /= area;
    for (strip = 0; strip < strips; strip++) a->part[strip] /= strips * area;
    a->deflection = flat(rim, points, radius, area, &length);
    a->ahead /= size, a->up /= size;
    a->share = size / length;
    return 1;
}

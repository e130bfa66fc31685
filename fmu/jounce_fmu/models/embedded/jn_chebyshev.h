/* First guess of an aggregate's dependent coordinates: Chebyshev polynomials over a box, made with the derived numbers.
 * The algorithm is that of jounce.dynamics.chebyshev, which explains it.
 */
#ifndef JN_CHEBYSHEV_H
#define JN_CHEBYSHEV_H

#include <stddef.h>

enum {
    JN_GUESS_VARIABLES = 3, /* coordinates, then the steering coordinate, at most */
    JN_GUESS_TERMS = 13,    /* degree 12 and its constant */
    JN_GUESS_OUTER = 169,   /* products of two variables' polynomials, at most */
    JN_GUESS_MOST = 16      /* dependent coordinates */
};

/* Largest error of a guess within its box, from which two Newton steps reach rounding [rad or m]. */
#define JN_GUESS_ERROR 2e-4

/* Numbers of one guess, in order; then the coefficients. */
enum { JN_GUESS_centre, JN_GUESS_scale = JN_GUESS_VARIABLES, JN_GUESS_coefficients = 2 * JN_GUESS_VARIABLES };

/* What is known of a position: largest error of a loop [m], least pivot as part of its row, determinant of the loops,
 * distance of springs and shocks from their ends [m]. */
typedef struct {
    double closure, quality, determinant, room;
} jn_probe;

/* The loops of one aggregate over x: coordinates, then the steering coordinate where it is steered. */
typedef struct {
    int coordinates, dependent, steered;
    double limits[2];   /* how far each coordinate is searched, both ways */
    double steering[2]; /* range of the steering coordinate */
    void (*close)(const void *of, const double *x, double *u); /* one Newton step of u */
    jn_probe (*probe)(const void *of, const double *x, const double *u);
    const void *of;
} jn_loops;

/* What ends the box below and above; JN_END_CORNER: a corner is out of range, with the other variables. */
typedef enum { JN_END_LIMIT, JN_END_TOGGLE, JN_END_STROKE, JN_END_PIVOT, JN_END_OPEN, JN_END_CORNER } jn_box_end;

typedef struct {
    int degrees[JN_GUESS_VARIABLES]; /* 0 for variables that are not there */
    double low[JN_GUESS_VARIABLES], high[JN_GUESS_VARIABLES];
    jn_box_end ends[2][2]; /* of the coordinates: below, above */
    double error;          /* largest difference from the closed position where it was tried [rad or m] */
} jn_guess_fit;

/* Fits box and polynomials. `least`: degrees to start from, so that several aggregates may share theirs; `numbers`: the
 * guess's numbers, JN_GUESS_coefficients and `capacity` more. Returns 0, or 1 with a text that says what is wrong. */
int jn_fit_guess(const jn_loops *loops, const int *least, jn_guess_fit *fit, double *numbers, int capacity, char *text,
                 size_t size);

/* The same for several aggregates of one kind, which share their degrees: number k of the one in lane c goes to
 * numbers[k stride + c]. Returns 0, or 1 with a text and the lane that it is about. */
int jn_fit_guesses(const jn_loops *loops, int lanes, jn_guess_fit *fits, double *numbers, int stride, int capacity,
                   int *lane, char *text, size_t size);

/* Coefficients of one dependent coordinate for those degrees. */
int jn_guess_count(const int *degrees);

#endif

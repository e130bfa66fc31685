/* Directional and adjoint derivatives of what an instance shows, for models that have `directional`.
 *
 * Unknowns are outputs and derivatives of states, knowns are inputs, states and the time; all are Real. The values
 * are those that reading the unknowns would give: at the states as they are in co-simulation, at their projection in
 * model exchange. Parameters are constants, so that before the end of initialization, when the states follow from
 * parameters and inputs, there are no derivatives.
 */
#ifndef JN_DERIVATIVE_H
#define JN_DERIVATIVE_H

#include "jn_face.h"

typedef struct {
    const unsigned *unknown;
    size_t n_unknown;
    const unsigned *known;
    size_t n_known;
    const double *seed;
    size_t n_seed;
    double *result;
    size_t n_result;
} jn_sensitivity;

/* 0, -1 when refused, 1 when the model cannot be evaluated here. Nothing changes but the result. */
int jn_directional(jn_instance *s, const jn_list *as, const jn_sensitivity *q); /* result: of the unknowns */
int jn_adjoint(jn_instance *s, const jn_list *as, const jn_sensitivity *q);     /* result: of the knowns */

#endif

/* Directional and adjoint derivatives of an instance's variables, for models that have `directional`.
 *
 * Unknowns are outputs and derivatives of states; knowns are inputs, states and the time. All are Real. The derivatives
 * are those of the values that the importer reads: at the states themselves in co-simulation, at their projection in
 * model exchange. Parameters are constants. There are no derivatives before the end of initialization, when the states
 * still follow from parameters and inputs.
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

/* Return 0, -1 if refused, or 1 if the model cannot be evaluated at this point. Only `result` is changed. */
int jn_directional(jn_instance *s, const jn_list *as, const jn_sensitivity *q); /* result: of the unknowns */
int jn_adjoint(jn_instance *s, const jn_list *as, const jn_sensitivity *q);     /* result: of the knowns */

#endif

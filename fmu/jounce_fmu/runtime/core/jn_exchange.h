/* Model exchange over the core: the importer integrates, the core evaluates.
 *
 * The states are those of x before the memory. They are kept as the importer set them, and each evaluation is at
 * their projection onto the manifold: the length of a quaternion then neither grows in the exact flow nor acts on
 * anything, so that no step event is needed to put it right. The memory takes its values for inputs at rest.
 * No ticks pass: the time is start_time, and fixed steps are not taken.
 */
#ifndef JN_EXCHANGE_H
#define JN_EXCHANGE_H

#include "jn_core.h"

enum { JN_PROJECTIONS = 2 }; /* calls of `finish`: the second one finds the inputs at rest */

int jn_n_states(const jn_instance *s);
int jn_rates(jn_instance *s); /* dx valid, for co-simulation, too */
int jn_exchange_refresh(jn_instance *s);
int jn_exchange_time(jn_instance *s, double t);
int jn_exchange_set(jn_instance *s, const double *x, size_t n);
int jn_exchange_get(jn_instance *s, const double *from, double *to, size_t n); /* from one of x, dx, nominals */

#endif

/* Model exchange: the importer integrates and the core evaluates.
 *
 * The continuous states are those of x before the memory. They are kept as the importer set them, and the model is
 * evaluated at their projection onto the manifold. The length of a quaternion then does not drift in the exact flow and
 * has no effect, so no step event is needed to normalize it. The memory has its values for inputs at rest, and what a
 * controller has decided at the last time event. There are no ticks: the time is start_time.
 */
#ifndef JN_EXCHANGE_H
#define JN_EXCHANGE_H

#include "jn_core.h"

enum { JN_PROJECTIONS = 2 }; /* calls of `finish`: after the second one the memory is that of inputs at rest */

int jn_n_states(const jn_instance *s);
int jn_rates(jn_instance *s); /* makes dx valid; also used in co-simulation */
int jn_exchange_refresh(jn_instance *s);
/* At an event: the model's controller decides if it is its turn. Whether it has a next time event, and when [s]. */
int jn_exchange_event(jn_instance *s, double *next);
/* A step has been accepted: what the model remembers of it. */
void jn_exchange_completed(jn_instance *s);
int jn_exchange_time(jn_instance *s, double t);
int jn_exchange_set(jn_instance *s, const double *x, size_t n);
int jn_exchange_get(jn_instance *s, const double *from, double *to, size_t n); /* `from` is x, dx or nominals */

#endif

/* One tick of the Rosenbrock method, for models with a Jacobian. It is stable for tick lengths at which stiff contacts
 * make RK4 unstable. */
#ifndef JN_ROSENBROCK_H
#define JN_ROSENBROCK_H

#include "jn_core.h"

/* Advances x by one tick, without `finish`. Returns 0; otherwise the fault is filled and x must be discarded. */
int jn_rosenbrock_tick(jn_instance *s, jn_fault *f);

#endif

/* One tick of the Rosenbrock method, for models with a Jacobian: stable with ticks at which
 * stiff contacts make RK4 blow up. */
#ifndef JN_ROSENBROCK_H
#define JN_ROSENBROCK_H

#include "jn_core.h"

/* x one tick on, before `finish`. 0 when ok, otherwise the fault is filled and x may be half-made. */
int jn_rosenbrock_tick(jn_instance *s, jn_fault *f);

#endif

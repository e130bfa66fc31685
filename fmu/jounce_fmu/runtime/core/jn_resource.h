/* The resource of an instance, and what its derived numbers tell of it. */
#ifndef JN_RESOURCE_H
#define JN_RESOURCE_H

#include "jn_core.h"

/* Puts address and hash of the resource into derived numbers; zeros if there is none. */
void jn_tell_resource(const jn_instance *s, double *d);
/* Clears the address, which no snapshot may hold. */
void jn_hide_address(double *place);
int jn_is_none(const double *place); /* whether no hash stands there */
/* Opens what a snapshot was made with, given its parameters in effect and its numbers at d_resource; an error if the
 * resource at hand is another one. */
int jn_match_resource(jn_instance *s, const unsigned char *p, const unsigned char *place);

#endif

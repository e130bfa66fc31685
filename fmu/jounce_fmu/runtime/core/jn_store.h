/* What a model remembers beside its states, where its parameters ask for it: numbers that change only after a tick. */
#ifndef JN_STORE_H
#define JN_STORE_H

#include "jn_core.h"

/* Makes an empty store if these parameters ask for one, and frees the one that there was otherwise. */
int jn_use_store(jn_instance *s, const double *p);
int jn_make_store(jn_instance *s);
/* Puts its address into derived numbers, or zeros. */
void jn_tell_store(const jn_instance *s, double *d);
int jn_n_store(const jn_instance *s); /* numbers in use */
/* Lets the model remember the tick that has just ended. */
void jn_remember(jn_instance *s);
/* Keeps the store as it is, and goes back to that. */
void jn_keep_store(jn_instance *s);
void jn_restore_store(jn_instance *s);
void jn_free_store(jn_instance *s);

#endif

/* Code that the faces of all FMI versions share: log categories, state names, typed lists of values, saved states.
 * Functions that return int return 0 on success, or -1 with s->error filled and nothing changed. */
#ifndef JN_FACE_H
#define JN_FACE_H

#include "jn_core.h"

enum { JN_FIRST_STATE = 200000, JN_RATE_OFFSET = 100000 }; /* value references, as in jounce.references */

enum { LOG_ERROR, LOG_WARNING, LOG_EVENT, CATEGORIES };

/* The first member of every face's own struct. */
typedef struct {
    const char *const *type_names; /* of Real, Integer, Boolean, Enumeration */
    int logged[CATEGORIES];
    int arrays;   /* the first value reference of a vector signal stands for the whole vector */
    int has_time; /* value reference 0 is the time */
    int exchange; /* model exchange: the importer integrates */
    int has_states; /* states and their derivatives have value references */
} jn_base;

extern const char *const jn_categories[CATEGORIES];
int jn_choose_logs(jn_instance *s, int on, size_t n, const char *const names[]);
const char *jn_state_name(int state);

/* C type of the values in a list. */
typedef enum { JN_NOTHING, JN_DOUBLE, JN_INT32, JN_INT64, JN_BYTE } jn_carrier;

typedef struct {
    const char *name;  /* of the type */
    const char *types; /* letters of jn_signal.type that it can hold; "" for a type that no signal has */
    jn_carrier carrier;
} jn_list;

enum { NO_ROW = -1, TIME_ROW = -2 };
/* Row of a value reference of the requested type, TIME_ROW, or NO_ROW with s->error filled. Rows of states, and then
 * those of their derivatives, follow the rows of the signals. */
int jn_list_row(jn_instance *s, const jn_list *as, unsigned vr);
int jn_list_width(const jn_instance *s, int row); /* number of values that the row's value reference stands for */

/* jn_set_list checks the whole list before it sets anything. jn_get_list may fill the values before the fault. */
int jn_get_list(jn_instance *s, const jn_list *as, const unsigned vr[], size_t n, void *values, size_t n_values);
int jn_set_list(jn_instance *s, const jn_list *as, const unsigned vr[], size_t n, const void *values,
                size_t n_values);

/* The saved states behind the standards' opaque pointers; allocated by malloc. */
int jn_state_save(jn_instance *s, void **state);
int jn_state_restore(jn_instance *s, const void *state);
int jn_state_size(jn_instance *s, const void *state, size_t *size);
int jn_state_write(jn_instance *s, const void *state, void *bytes, size_t size);
int jn_state_read(jn_instance *s, const void *bytes, size_t size, void **state);
void jn_state_free(void **state);

#endif

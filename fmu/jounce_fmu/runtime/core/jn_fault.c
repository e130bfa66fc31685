/* How a model says what it refuses. */
#include <stdarg.h>
#include <stdio.h>

#include "jn_model.h"

int jn_refuse(jn_fault *f, int signal, double value, const char *format, ...) {
    va_list arguments;
    f->signal = signal;
    f->value = value;
    va_start(arguments, format);
    vsnprintf(f->text, sizeof f->text, format, arguments);
    va_end(arguments);
    return 1;
}

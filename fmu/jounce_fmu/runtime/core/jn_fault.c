/* What models and core say of what they refuse. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "jn_core.h"

int jn_refuse(jn_fault *f, int signal, double value, const char *format, ...) {
    va_list arguments;
    f->signal = signal;
    f->value = value;
    va_start(arguments, format);
    vsnprintf(f->text, sizeof f->text, format, arguments);
    va_end(arguments);
    return 1;
}

int jn_finite(double value) { return value - value == 0.0; }

/* Writes the shortest text that reads back as the same double, with a decimal point in any locale. */
static void number_text(double v, char *out, size_t size) {
    char raw[48];
    int digits;
    size_t i, n = 0;
    int in_sign = 0;
    if (v != v) { snprintf(out, size, "nan"); return; }
    if (!jn_finite(v)) { snprintf(out, size, v > 0 ? "inf" : "-inf"); return; }
    for (digits = 15; digits <= 17; digits++) {
        snprintf(raw, sizeof raw, "%.*g", digits, v);
        if (strtod(raw, NULL) == v) break;
    }
    for (i = 0; raw[i] && n + 1 < size; i++) {
        if (strchr("0123456789+-e", raw[i])) { out[n++] = raw[i]; in_sign = 0; }
        else if (!in_sign) { out[n++] = '.'; in_sign = 1; }
    }
    out[n] = '\0';
}

int jn_fail(jn_instance *s, const char *format, ...) {
    va_list args;
    size_t n = 0, size = sizeof s->error;
    va_start(args, format);
    for (; *format && n + 1 < size; format++) {
        char piece[64];
        const char *text = piece;
        if (*format != '%') { s->error[n++] = *format; continue; }
        format++;
        if (*format == 's') { text = va_arg(args, const char *); if (!text) text = "(null)"; }
        else if (*format == 'd') snprintf(piece, sizeof piece, "%d", va_arg(args, int));
        else if (*format == 'D') snprintf(piece, sizeof piece, "%lld", va_arg(args, long long));
        else if (*format == 'g') number_text(va_arg(args, double), piece, sizeof piece);
        else piece[0] = '\0';
        while (*text && n + 1 < size) s->error[n++] = *text++;
        if (!*format) break;
    }
    s->error[n] = '\0';
    va_end(args);
    return -1;
}

void jn_clear_fault(jn_fault *f) { f->signal = -1; f->value = 0.0; f->text[0] = '\0'; }

int jn_fail_fault(jn_instance *s, const char *where, jn_fault *f) {
    f->text[sizeof f->text - 1] = '\0';
    if (f->signal >= 0 && f->signal < s->model->n_signals)
        return jn_fail(s, "%s: %s = %g: %s", where, s->model->signals[f->signal].name, f->value, f->text);
    return jn_fail(s, "%s: %s", where, f->text[0] ? f->text : "the model gave no reason");
}

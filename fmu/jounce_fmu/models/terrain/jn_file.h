/* A file's bytes, mapped read-only where the system can, otherwise read into memory. */
#ifndef JN_FILE_H
#define JN_FILE_H

#include <stddef.h>

typedef struct {
    const unsigned char *bytes;
    size_t size;
    int mapped;
} jn_file;

/* `path` is UTF-8. Returns 0, or -1 with the reason in `why`. */
int jn_file_open(const char *path, jn_file *file, char *why, size_t n);
void jn_file_close(jn_file *file);

#endif

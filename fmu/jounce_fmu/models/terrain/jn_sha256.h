/* SHA-256 (FIPS 180-4). */
#ifndef JN_SHA256_H
#define JN_SHA256_H

#include <stddef.h>

void jn_sha256(const unsigned char *bytes, size_t n, unsigned char digest[32]);

#endif

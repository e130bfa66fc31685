/* See jn_sha256.h. */
#include "jn_sha256.h"

#include <stdint.h>
#include <string.h>

/* FIPS 180-4, 4.2.2: fractional parts of the cube roots of the first 64 primes. */
static const uint32_t rounds[64] = {
    0x428a2f98U, 0x71374491U, 0xb5c0fbcfU, 0xe9b5dba5U, 0x3956c25bU, 0x59f111f1U, 0x923f82a4U, 0xab1c5ed5U,
    0xd807aa98U, 0x12835b01U, 0x243185beU, 0x550c7dc3U, 0x72be5d74U, 0x80deb1feU, 0x9bdc06a7U, 0xc19bf174U,
    0xe49b69c1U, 0xefbe4786U, 0x0fc19dc6U, 0x240ca1ccU, 0x2de92c6fU, 0x4a7484aaU, 0x5cb0a9dcU, 0x76f988daU,
    0x983e5152U, 0xa831c66dU, 0xb00327c8U, 0xbf597fc7U, 0xc6e00bf3U, 0xd5a79147U, 0x06ca6351U, 0x14292967U,
    0x27b70a85U, 0x2e1b2138U, 0x4d2c6dfcU, 0x53380d13U, 0x650a7354U, 0x766a0abbU, 0x81c2c92eU, 0x92722c85U,
    0xa2bfe8a1U, 0xa81a664bU, 0xc24b8b70U, 0xc76c51a3U, 0xd192e819U, 0xd6990624U, 0xf40e3585U, 0x106aa070U,
    0x19a4c116U, 0x1e376c08U, 0x2748774cU, 0x34b0bcb5U, 0x391c0cb3U, 0x4ed8aa4aU, 0x5b9cca4fU, 0x682e6ff3U,
    0x748f82eeU, 0x78a5636fU, 0x84c87814U, 0x8cc70208U, 0x90befffaU, 0xa4506cebU, 0xbef9a3f7U, 0xc67178f2U};

static uint32_t turned(uint32_t v, int by) { return (v >> by) | (v << (32 - by)); }

static void block(uint32_t h[8], const unsigned char *b) {
    uint32_t w[64], v[8];
    int i;
    for (i = 0; i < 16; i++)
        w[i] = (uint32_t)b[4 * i] << 24 | (uint32_t)b[4 * i + 1] << 16 | (uint32_t)b[4 * i + 2] << 8 | b[4 * i + 3];
    for (; i < 64; i++)
        w[i] = w[i - 16] + (turned(w[i - 15], 7) ^ turned(w[i - 15], 18) ^ (w[i - 15] >> 3)) + w[i - 7] +
               (turned(w[i - 2], 17) ^ turned(w[i - 2], 19) ^ (w[i - 2] >> 10));
    memcpy(v, h, sizeof v);
    for (i = 0; i < 64; i++) {
        const uint32_t one = v[7] + (turned(v[4], 6) ^ turned(v[4], 11) ^ turned(v[4], 25)) +
                             ((v[4] & v[5]) ^ (~v[4] & v[6])) + rounds[i] + w[i];
        const uint32_t two = (turned(v[0], 2) ^ turned(v[0], 13) ^ turned(v[0], 22)) +
                             ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
        memmove(v + 1, v, 7 * sizeof *v);
        v[4] += one;
        v[0] = one + two;
    }
    for (i = 0; i < 8; i++) h[i] += v[i];
}

void jn_sha256(const unsigned char *bytes, size_t n, unsigned char digest[32]) {
    uint32_t h[8] = {0x6a09e667U, 0xbb67ae85U, 0x3c6ef372U, 0xa54ff53aU, 0x510e527fU, 0x9b05688cU, 0x1f83d9abU, 0x5be0cd19U};
    unsigned char end[128] = {0};
    const size_t whole = n / 64, rest = n % 64, last = rest < 56 ? 64 : 128;
    const uint64_t bits = (uint64_t)n * 8;
    size_t i;
    for (i = 0; i < whole; i++) block(h, bytes + 64 * i);
    memcpy(end, bytes + 64 * whole, rest);
    end[rest] = 0x80;
    for (i = 0; i < 8; i++) end[last - 1 - i] = (unsigned char)(bits >> (8 * i));
    for (i = 0; i < last; i += 64) block(h, end + i);
    for (i = 0; i < 32; i++) digest[i] = (unsigned char)(h[i / 4] >> (24 - 8 * (i % 4)));
}

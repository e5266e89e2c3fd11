/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Check of reference.c: numbers as sign * integer * 2^exponent, sums and products of
 * 64-bit integers, rounded by their bits. No host floating point is used.
 */
#include "reference.h"

#define SIGN 0x80000000u

static uint32_t result(int unit, int mode, uint32_t a, uint32_t b) {
  uint32_t c = 0, y, z;
  ref_block(unit, mode, 1, &a, &b, &c, &y, &z);
  return y;
}

struct parts {
  int negative, e;
  int64_t m; /* value m * 2^e, the sign apart */
};

static struct parts parts_of(uint32_t bits, int p, int e_min, int width) {
  struct parts x;
  uint32_t one = (uint32_t)1 << (p - 1), magnitude = bits & (((uint32_t)1 << (width - 1)) - 1);
  int field = (int)(magnitude >> (p - 1));
  x.negative = (int)(bits >> (width - 1) & 1u);
  x.m = (int64_t)((magnitude & (one - 1)) | (field ? one : 0));
  x.e = (field ? field - 1 : 0) + e_min - (p - 1);
  return x;
}

/* RNE of m * 2^e to the code of a float of p bits with least exponent e_min; overflow to inf. */
static uint32_t round_integer(uint64_t m, int e, int p, int e_min) {
  int bits = 0, least = e_min - (p - 1), last, shift;
  uint64_t kept;
  uint32_t infinity = (uint32_t)(2 * (1 - e_min) + 1) << (p - 1), code;
  if (m == 0) return 0;
  while (m >> bits) bits++;
  last = e + bits - p < least ? least : e + bits - p;
  shift = last - e;
  if (shift > 63) return 0;
  kept = shift <= 0 ? m << -shift : m >> shift;
  if (shift > 0) {
    uint64_t rest = m & (((uint64_t)1 << shift) - 1), half = (uint64_t)1 << (shift - 1);
    if (rest > half || (rest == half && (kept & 1))) kept++;
  }
  if (last - least >= 2 * (1 - e_min) + 1) return infinity;
  code = (uint32_t)kept + ((uint32_t)(last - least) << (p - 1));
  return code > infinity ? infinity : code;
}

static uint32_t integer_add(uint32_t a, uint32_t b, int p, int e_min, int width) {
  struct parts x = parts_of(a, p, e_min, width), y = parts_of(b, p, e_min, width);
  int64_t sum;
  uint32_t sign = (uint32_t)1 << (width - 1);
  if (x.e < y.e) return integer_add(b, a, p, e_min, width);
  if (x.e - y.e > 36) { /* y is below a quarter of the last place of x, a normal number */
    y.m = y.m != 0;
    y.e = x.e - 36;
  }
  x.m <<= x.e - y.e;
  sum = (x.negative ? -x.m : x.m) + (y.negative ? -y.m : y.m);
  if (sum == 0) return x.negative && y.negative ? sign : 0;
  return (sum < 0 ? sign : 0) | round_integer((uint64_t)(sum < 0 ? -sum : sum), y.e, p, e_min);
}

static uint32_t integer_mul(uint32_t a, uint32_t b) {
  struct parts x = parts_of(a, 24, -126, 32), y = parts_of(b, 24, -126, 32);
  return ((a ^ b) & SIGN) | round_integer((uint64_t)(x.m * y.m), x.e + y.e, 24, -126);
}

static uint64_t next_random(uint64_t *state) { /* splitmix64 */
  uint64_t z = *state += 0x9E3779B97F4A7C15ull;
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ z >> 27) * 0x94D049BB133111EBull;
  return z ^ z >> 31;
}

/* Random float bits; many with zeros at the end of the fraction, where ties come from. */
static uint32_t random_f32(uint64_t r) {
  uint32_t bits = (uint32_t)r & (0xFFFFFFFFu << (r >> 32 & 31u)), field = bits >> 23 & 255u;
  return field == 255 ? bits ^ 0x00800000u : bits;
}

/* The same after overflow to the greatest number, as steps H and HI have it. */
static uint32_t held_f16(uint64_t m, int e) {
  uint32_t code = round_integer(m, e, 11, -14);
  return code == 0x7C00 ? 0x7BFF : code;
}

uint64_t ref_self_check(uint64_t count) {
  uint64_t i, wrong = 0, state = 1;
  for (i = 0; i < count; i++) {
    uint64_t r = next_random(&state), size;
    uint32_t a = random_f32(r), b = random_f32(next_random(&state)), sign;
    uint32_t a16 = (uint32_t)(r >> 8) & 0xFFFFu, b16 = (uint32_t)(r >> 32) & 0xFFFFu;
    int64_t x = (int32_t)r >> (r >> 59);
    struct parts p;
    if (r & 1) b = (b & 0x807FFFFFu) | (a & 0x7F800000u); /* close to each other */
    if ((a16 & 0x7C00u) == 0x7C00u) a16 ^= 0x4000u;
    if ((b16 & 0x7C00u) == 0x7C00u) b16 ^= 0x4000u;
    wrong += result(REF_MUL, 0, a, b) != integer_mul(a, b);
    wrong += result(REF_ATOMIC_F32, 0, a, b) != integer_add(a, b, 24, -126, 32);
    wrong += result(REF_ATOMIC_F16, 4, a16, b16) != integer_add(a16, b16, 11, -14, 16);
    a16 = a >> 16;
    b16 = b >> 16;
    wrong += result(REF_ATOMIC_BF16, 0, a16, b16) != integer_add(a16, b16, 8, -126, 16);
    size = (uint64_t)(x < 0 ? -x : x);
    sign = x < 0 ? SIGN : 0;
    wrong += result(REF_I32_F32, 0, (uint32_t)x, 0) != (sign | round_integer(size, 0, 24, -126));
    wrong += result(REF_HI, 0, (uint32_t)x, 0) != (sign >> 16 | held_f16(size, 0));
    p = parts_of(a, 24, -126, 32);
    sign = a & SIGN;
    wrong += result(REF_H, 0, a, 0) != (sign >> 16 | held_f16((uint64_t)p.m, p.e));
    wrong += result(REF_F16, 2, a, 0) !=
             (sign >> 16 | round_integer((uint64_t)p.m, p.e, 11, -14));
    wrong += result(REF_BF16, 2, a, 0) !=
             (sign >> 16 | round_integer((uint64_t)p.m, p.e, 8, -126));
  }
  return wrong;
}

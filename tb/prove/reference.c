/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See reference.h. Where host arithmetic is used it is exact, or rounds once by IEEE 754, for the
 * reason given there; ref_init refuses a host or compiler for which that would not hold.
 */
#include "reference.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define F32_INF 0x7F800000u
#define F32_NAN 0x7FC00000u
#define SIGN 0x80000000u

static double f32_value(uint32_t bits) {
  float f;
  memcpy(&f, &bits, sizeof f);
  return (double)f;
}

static float f32_of(uint32_t bits) {
  float f;
  memcpy(&f, &bits, sizeof f);
  return f;
}

static uint32_t f32_bits(float f) {
  uint32_t bits;
  memcpy(&bits, &f, sizeof bits);
  return bits;
}

static int is_nan(uint32_t bits) { return (bits & ~SIGN) > F32_INF; }

/* --- formats as lists of their values ------------------------------------------------------------ */

#define MOST 32768

struct format {
  int finite;                   /* number of finite magnitudes */
  uint32_t code[MOST + 1];      /* magnitude code of each, ascending by value */
  double value[MOST + 1];       /* [finite]: the value that would follow the greatest */
  uint32_t bits[MOST + 1];      /* the same as f32 bits */
  uint32_t rounds_to[MOST + 2]; /* least f32 magnitude that rounds to entry k or above */
  uint32_t infinity, nan;       /* codes for nosat overflow (without sign) and NaN */
  uint32_t sign;                /* the sign bit */
  int signed_zero;
};

static struct format f16, bf16, e4m3, hif8;

/* Value of a magnitude code of an IEEE-like format: m fraction bits, exponent bias. */
static double ieee_value(uint32_t code, int m, int bias) {
  int exponent = (int)(code >> m);
  double fraction = ldexp((double)(code & ((1u << m) - 1u)), -m);
  return exponent == 0 ? ldexp(fraction, 1 - bias) : ldexp(1.0 + fraction, exponent - bias);
}

/* Value of the low seven bits of a HiF8 code, by the table of fixpipe.md section 7. */
static double hif8_value(uint32_t c) {
  int e, w;
  if ((c >> 3) == 0) return c == 0 ? 0.0 : ldexp(1.0, (int)c - 23);
  if ((c >> 3) == 1) {
    e = 0;
    w = 3;
  } else if ((c >> 4) == 1) {
    e = 1;
    w = 3;
  } else if ((c >> 5) == 1) {
    e = 2 + (int)((c >> 3) & 1u);
    w = 3;
  } else if ((c >> 5) == 2) {
    e = 4 + (int)((c >> 2) & 3u);
    w = 2;
  } else {
    e = 8 + (int)((c >> 1) & 7u);
    w = 1;
  }
  if ((c >> 4) == 1 ? (c >> 3) & 1u : (c >> 5) != 0 && ((c >> 4) & 1u)) e = -e;
  return ldexp(1.0 + ldexp((double)(c & ((1u << w) - 1u)), -w), e);
}

/* Fills in the fields derived from the values; ties go to the even code, or away from zero. */
static int complete(struct format *f, int away) {
  int k;
  f->rounds_to[0] = 0;
  for (k = 0; k <= f->finite; k++) {
    f->bits[k] = f32_bits((float)f->value[k]);
    if (k < f->finite && f32_value(f->bits[k]) != f->value[k]) return 1; /* 2^128 is infinity */
    if (k > 0 && f->value[k] <= f->value[k - 1]) return 1;
  }
  for (k = 0; k < f->finite; k++) {
    double middle = (f->value[k] + f->value[k + 1]) / 2; /* exact: at most nine more bits */
    uint32_t bits = f32_bits((float)middle);
    if (f32_value(bits) != middle) return 1;
    /* Neighbours in value have neighbouring codes: one of the two is even. */
    f->rounds_to[k + 1] = away || (f->code[k] & 1u) ? bits : bits + 1;
  }
  f->rounds_to[f->finite + 1] = 0xFFFFFFFFu;
  return 0;
}

static int ieee_format(struct format *f, int m, int bias, uint32_t greatest, uint32_t infinity,
                       uint32_t nan, uint32_t sign) {
  int k;
  f->finite = (int)greatest + 1;
  for (k = 0; k <= f->finite; k++) {
    f->code[k] = (uint32_t)k;
    f->value[k] = ieee_value((uint32_t)k, m, bias);
  }
  f->infinity = infinity;
  f->nan = nan;
  f->sign = sign;
  f->signed_zero = 1;
  return complete(f, 0);
}

static int hif8_format(struct format *f) {
  uint32_t c;
  int k, n = 0;
  for (c = 0; c < 128; c++) { /* sorted by insertion; 6F, the infinity, comes last */
    double v = hif8_value(c);
    for (k = n++; k > 0 && f->value[k - 1] > v; k--) {
      f->value[k] = f->value[k - 1];
      f->code[k] = f->code[k - 1];
    }
    f->value[k] = v;
    f->code[k] = c;
  }
  f->finite = 127;
  f->infinity = 0x6F;
  f->nan = 0x80;
  f->sign = 0x80;
  f->signed_zero = 0;
  return f->code[127] != 0x6F || f->code[126] != 0x6E || complete(f, 1);
}

/* Greatest k with limits[k] <= x, of limits[0] = 0 .. limits[n]; `near` is tried first. */
static int position(const uint32_t *limits, int n, uint32_t x, int near) {
  int low = 0, high = n + 1;
  if (near <= n && limits[near] <= x) {
    if (near == n || x < limits[near + 1]) return near;
    low = near;
  }
  while (high - low > 1) {
    int middle = (low + high) / 2;
    if (limits[middle] <= x)
      low = middle;
    else
      high = middle;
  }
  return low;
}

/* Entry of the list that |x| rounds to, f->finite for an overflow; |x| is not a NaN. */
static int nearest(const struct format *f, uint32_t magnitude, int near) {
  return position(f->rounds_to, f->finite, magnitude, near);
}

/* The hybrid rounding of HiF8 (section 7): the position of |x| between neighbours low and high, in
 * 1/2^14 rounded down, is compared with the low 14 bits of x itself. */
static int hybrid(uint32_t magnitude, int near) {
  int k;
  double x, part;
  if (magnitude < 0x34000000u) return 0; /* below 2^-23 */
  if (magnitude >= 0x3E000000u && magnitude < 0x41800000u) /* 2^-3 <= |x| < 2^4: three bits */
    return nearest(&hif8, magnitude, near);
  k = position(hif8.bits, hif8.finite, magnitude, near);
  if (k == hif8.finite) return k;
  /* Exact: a suffix of x's bits, divided by a power of two. */
  x = f32_value(magnitude);
  part = (x - hif8.value[k]) / (hif8.value[k + 1] - hif8.value[k]);
  return part > 0 && floor(part * 16384) >= (double)(magnitude & 0x3FFFu) ? k + 1 : k;
}

static void convert(const struct format *f, int n, const uint32_t *a, uint32_t *y, int sat,
                    int is_hybrid) {
  int i, k = 0;
  for (i = 0; i < n; i++) {
    uint32_t magnitude = a[i] & ~SIGN, sign = a[i] & SIGN ? f->sign : 0;
    if (is_nan(a[i])) {
      y[i] = sat == 0 ? 0 : f->nan;
      continue;
    }
    k = is_hybrid ? hybrid(magnitude, k) : nearest(f, magnitude, k);
    if (k == f->finite) /* a format without infinity has a NaN there, which has no sign */
      y[i] = sat != 2 ? sign | f->code[k - 1] : (f->infinity == f->nan ? 0 : sign) | f->infinity;
    else
      y[i] = f->code[k] | (k > 0 || f->signed_zero ? sign : 0);
  }
}

/* --- steps of section 4 -------------------------------------------------------------------------- */

static uint32_t hi_code[65536]; /* f16 code nearest to each integer, overflow held at 65504 */

static void hi_table(void) {
  uint32_t v;
  for (v = 0; v < 65536; v++) {
    int k = nearest(&f16, f32_bits((float)v), 0); /* integers of 16 bits are exact in f32 */
    hi_code[v] = f16.code[k == f16.finite ? k - 1 : k];
  }
}

static uint32_t hi(uint32_t x) {
  int64_t v = (int32_t)x;
  uint32_t sign = v < 0 ? 0x8000u : 0;
  uint64_t magnitude = (uint64_t)(v < 0 ? -v : v);
  return sign | hi_code[magnitude > 65535 ? 65535 : magnitude];
}

static void h(int n, const uint32_t *a, uint32_t *y) {
  int i, k = 0;
  for (i = 0; i < n; i++) {
    if (is_nan(a[i])) {
      y[i] = 0;
      continue;
    }
    k = nearest(&f16, a[i] & ~SIGN, k);
    y[i] = (a[i] & SIGN ? 0x8000u : 0) | f16.code[k == f16.finite ? k - 1 : k];
  }
}

uint32_t ref_widen_f16(uint32_t code) {
  return (code & 0x8000u ? SIGN : 0) | f16.bits[code & 0x7FFFu];
}

/* RNE to an integer of a value below 2^53: floor and the part above it are exact in double. */
static int64_t nearest_integer(double t) {
  double magnitude = fabs(t), low = floor(magnitude), part = magnitude - low;
  int64_t q = (int64_t)low;
  if (part > 0.5 || (part == 0.5 && (q & 1))) q++;
  return t < 0 ? -q : q;
}

static int64_t held(uint32_t x, double least, double most) {
  double t = f32_value(x);
  if (is_nan(x)) return 0;
  return nearest_integer(t < least ? least : t > most ? most : t);
}

#define BEYOND 8589934592.0 /* 2^33 */
#define S32_MIN (-2147483647LL - 1)
#define S32_MAX 2147483647LL

/* Values beyond 2^33 are all the same to what follows; see ref_accepts. */
static int64_t wide(uint32_t x) { return held(x, -BEYOND, BEYOND); }

/* Destination ranges, stage ranges and widths of the offset, by kind (section 4). */
static const int64_t low[] = {-8, 0, -128, -32768, S32_MIN};
static const int64_t high[] = {7, 255, 127, 32767, S32_MAX};
static const double stage_low[] = {-16, -256, -256, -65536, -BEYOND};
static const double stage_high[] = {15, 255, 255, 65535, BEYOND};
static const int offset_bits[] = {5, 9, 9, 17, 9};
static const uint32_t stored[] = {15, 255, 255, 65535, 0xFFFFFFFFu};

static int64_t sign_extended(uint32_t field, int bits) {
  int64_t half = (int64_t)1 << (bits - 1), value = (int64_t)field & (2 * half - 1);
  return value < half ? value : value - 2 * half;
}

uint32_t ref_narrow_b(int64_t q, int offset) {
  return ((uint32_t)((uint64_t)q >> 32) & 7u) | ((uint32_t)offset & 0x1FFFFu) << 3;
}

uint32_t ref_tail_b(uint32_t field, int infinite) {
  return (field & 0x1FFFFu) | (uint32_t)infinite << 17;
}

/* Clip and destination clamp of q, which has its offset. */
static uint32_t clamped(int64_t q, uint32_t c, int kind) {
  if (c != 0 && q > (int64_t)c) q = c;
  if (q < low[kind]) q = low[kind];
  if (q > high[kind]) q = high[kind];
  return (uint32_t)(uint64_t)q & stored[kind];
}

static uint32_t narrow(uint32_t a, uint32_t b, uint32_t c, int kind) {
  int64_t q = sign_extended(b & 7u, 3) * 4294967296LL + (int64_t)a;
  return clamped(q + sign_extended(b >> 3, 17), c, kind);
}

/* Everything from t on (section 3). */
static uint32_t tail(uint32_t t, uint32_t b, uint32_t c, int kind) {
  int64_t plus = sign_extended(b, offset_bits[kind]);
  int infinite = (t & ~SIGN) == F32_INF, negative = (t & SIGN) != 0;
  if (is_nan(t)) return clamped(0, c, kind);
  if (infinite && (kind == REF_S32 || (b >> 17 & 1u)))
    return clamped(negative ? low[kind] : high[kind], c, kind);
  return clamped(held(t, stage_low[kind], stage_high[kind]) + plus, c, kind);
}

/* The product of two f32 has 48 bits and an exponent a double can hold: exact. The one rounding is
 * that of the conversion to float. */
static uint32_t mul(uint32_t a, uint32_t b) {
  uint32_t bits = f32_bits((float)(f32_value(a) * f32_value(b)));
  return is_nan(bits) ? F32_NAN : bits;
}

static uint32_t relu(uint32_t t, uint32_t alpha, int code) {
  if (code == 0) return t;
  if (is_nan(t)) return F32_NAN;
  if (code == 1) return f32_value(t) > 0 ? t : 0;
  return f32_value(t) >= 0 ? t : mul(alpha, t);
}

static uint32_t clip_f16(uint32_t t, uint32_t clip) {
  uint32_t limit = ref_widen_f16(clip);
  return !is_nan(t) && f32_value(t) > f32_value(limit) ? limit : t;
}

/* --- atomics ------------------------------------------------------------------------------------- */

static double power_of_two(int e) { /* -1022 <= e <= 1023 */
  uint64_t bits = (uint64_t)(1023 + e) << 52;
  double v;
  memcpy(&v, &bits, sizeof v);
  return v;
}

/* RNE of a finite double to multiples of 2^lsb: a sum with 1.5 * 2^(52 + lsb) has just that weight
 * in its last place (|v| < 2^(50 + lsb)), and the host rounds it to nearest even. */
static double to_multiple(double v, int lsb) {
  double big = 1.5 * power_of_two(52 + lsb), sum = v + big;
  return sum - big;
}

static int exponent_of(double v) { /* of a finite double of magnitude 2^-1022 or more, or 0 */
  uint64_t bits;
  memcpy(&bits, &v, sizeof bits);
  return (int)(bits >> 52 & 2047u) - 1023;
}

/* RNE to a 16-bit float of m fraction bits and least exponent e_min; overflow to infinity. */
static uint32_t encode16(double v, int m, int e_min) {
  int e = exponent_of(v);
  double magnitude;
  uint32_t code, sign = signbit(v) ? 0x8000u : 0;
  if (e < e_min) e = e_min;
  magnitude = fabs(to_multiple(v, e - m));
  if (magnitude >= power_of_two(2 - e_min)) /* 2^(e_max + 1) */
    return sign | (uint32_t)(2 * (1 - e_min) + 1) << m;
  e = exponent_of(magnitude);
  if (e < e_min) e = e_min;
  /* In units of the last place; the implicit one of a normal number counts in the exponent. */
  code = (uint32_t)(magnitude * power_of_two(m - e)) + ((uint32_t)(e - e_min) << m);
  return sign | code;
}

/* Multiples of 2^-24 below 2^17: the sum of two f16 is exact in double. */
static uint32_t add_f16(uint32_t a, uint32_t b) {
  double sum = f32_value(ref_widen_f16(a)) + f32_value(ref_widen_f16(b));
  return encode16(sum, 10, -14);
}

/* The sum of two bf16 is exact in double while the exponents are no more than 40 apart. Further
 * apart the smaller one is far less than half a last place of the greater: that is the result. */
static uint32_t add_bf16(uint32_t a, uint32_t b) {
  double x = f32_value(a << 16), y = f32_value(b << 16), sum = x + y;
  if (x != 0 && y != 0) {
    int gap = exponent_of(x) - exponent_of(y);
    if (gap > 40) return a;
    if (gap < -40) return b;
  }
  return encode16(sum, 7, -126);
}

/* Orders everything but NaN, -0 below +0. */
static int32_t rank32(uint32_t bits) {
  return (int32_t)(bits & SIGN ? ~(bits & ~SIGN) : bits);
}

static uint32_t pick(uint32_t a, uint32_t b, int64_t rank_a, int64_t rank_b, int op) {
  return (op == 1) == (rank_a > rank_b) ? a : b;
}

static uint32_t atomic_f32(uint32_t a, uint32_t b, int op) {
  if (is_nan(a) || is_nan(b)) return F32_NAN;
  if (op == 0) {
    uint32_t bits = f32_bits(f32_of(a) + f32_of(b)); /* one IEEE operation of the host */
    return is_nan(bits) ? F32_NAN : bits;
  }
  return pick(a, b, rank32(a), rank32(b), op);
}

static uint32_t atomic_16(uint32_t a, uint32_t b, uint32_t infinity, uint32_t nan, int op) {
  uint32_t x = a & 0x7FFFu, y = b & 0x7FFFu;
  if (x > infinity || y > infinity) return nan;
  if (op != 0) return pick(a, b, rank32(a << 16), rank32(b << 16), op);
  if (x == infinity) return y == infinity && a != b ? nan : a;
  if (y == infinity) return b;
  return infinity == 0x7C00u ? add_f16(a, b) : add_bf16(a, b);
}

/* Results with c48 = 0: finite sums, and +0 for NaN (AT-02). */
static uint32_t atomic_f16(uint32_t a, uint32_t b, int mode) {
  uint32_t y = atomic_16(a, b, 0x7C00, 0x7E00, mode & 3), magnitude = y & 0x7FFFu;
  if (mode & 4) return y;
  if (magnitude > 0x7C00u) return 0;
  return magnitude == 0x7C00u && (mode & 3) == 0 ? (y & 0x8000u) | 0x7BFFu : y;
}

static uint32_t atomic_integer(uint32_t a, uint32_t b, int bits, int op) {
  int64_t x = (int64_t)((uint64_t)a << (64 - bits)) >> (64 - bits);
  int64_t y = (int64_t)((uint64_t)b << (64 - bits)) >> (64 - bits);
  int64_t result = op == 0 ? x + y : (op == 1) == (x > y) ? x : y;
  return (uint32_t)((uint64_t)result & (0xFFFFFFFFFFFFFFFFull >> (64 - bits)));
}

/* --- the blocks ---------------------------------------------------------------------------------- */

int ref_init(void) {
  volatile float tiny = 1e-45f, one = 1.0f, ulp = 5.9604644775390625e-8f; /* 2^-24 */
  if (FLT_EVAL_METHOD != 0 || FLT_RADIX != 2 || FLT_MANT_DIG != 24 || DBL_MANT_DIG != 53) return 1;
  if (f32_bits(tiny) != 1 || f32_bits(tiny + tiny) != 2 || f32_bits(tiny * one) != 1) return 1;
  if (one + ulp != one || one + 3 * ulp != one + 4 * ulp || -one - ulp != -one) return 1;
  if (ieee_format(&f16, 10, 15, 0x7BFF, 0x7C00, 0x7E00, 0x8000)) return 1;
  if (ieee_format(&bf16, 7, 127, 0x7F7F, 0x7F80, 0x7FC0, 0x8000)) return 1;
  if (ieee_format(&e4m3, 3, 7, 0x7E, 0x7F, 0x7F, 0x80)) return 1;
  if (hif8_format(&hif8)) return 1;
  hi_table();
  return 0;
}

int ref_values(int unit, const uint32_t **bits) {
  const struct format *f = unit == REF_BF16   ? &bf16
                           : unit == REF_E4M3 ? &e4m3
                           : unit == REF_HIF8 ? &hif8
                                              : &f16;
  *bits = f->bits;
  return f->finite + 1;
}

int ref_accepts(int unit, int mode, uint32_t a, uint32_t b, uint32_t y, uint32_t z) {
  (void)mode;
  (void)b;
  /* Any integer so far away is clamped later; what becomes of an infinity is seen in REF_TAIL. */
  if (unit == REF_WIDE && !is_nan(a) && fabs(f32_value(a)) > BEYOND) {
    double q = (double)(int64_t)((uint64_t)z << 32 | y); /* 35 bits */
    return a & SIGN ? q <= -BEYOND : q >= BEYOND;
  }
  /* A NaN that is clipped is converted next: its payload is lost either way. */
  return unit == REF_CLIP_F16 && is_nan(a) && is_nan(y);
}

#define EACH(expression)                      \
  for (i = 0; i < n; i++) y[i] = (expression); \
  break

void ref_block(int unit, int mode, int n, const uint32_t *a, const uint32_t *b, const uint32_t *c,
               uint32_t *y, uint32_t *z) {
  int i;
  memset(z, 0, (size_t)n * sizeof *z);
  switch (unit) {
    case REF_F16: convert(&f16, n, a, y, mode, 0); break;
    case REF_BF16: convert(&bf16, n, a, y, mode, 0); break;
    case REF_E4M3: convert(&e4m3, n, a, y, mode, 0); break;
    case REF_HIF8: convert(&hif8, n, a, y, mode & 3, mode >> 2); break;
    case REF_H: h(n, a, y); break;
    case REF_HI: EACH(hi(a[i]));
    case REF_F16_F32: EACH(ref_widen_f16(a[i]));
    /* 32 bits are exact in double; the one rounding is that of the conversion to float. */
    case REF_I32_F32: EACH(f32_bits((float)(double)(int32_t)a[i]));
    case REF_S5: EACH((uint32_t)(int32_t)held(a[i], -16, 15));
    case REF_S9: EACH((uint32_t)(int32_t)held(a[i], -256, 255));
    case REF_S17: EACH((uint32_t)(int32_t)held(a[i], -65536, 65535));
    case REF_WIDE:
      for (i = 0; i < n; i++) {
        uint64_t q = (uint64_t)wide(a[i]);
        y[i] = (uint32_t)q;
        z[i] = (uint32_t)(q >> 32);
      }
      break;
    case REF_NARROW: EACH(narrow(a[i], b[i], c[i], mode));
    case REF_TAIL: EACH(tail(a[i], b[i], c[i], mode));
    case REF_RELU: EACH(relu(a[i], b[i], mode));
    case REF_RELU_I32: EACH((int32_t)a[i] > 0 ? a[i] : 0);
    case REF_CLIP_F16: EACH(clip_f16(a[i], b[i]));
    case REF_MUL: EACH(mul(a[i], b[i]));
    case REF_ATOMIC_F32: EACH(atomic_f32(a[i], b[i], mode));
    case REF_ATOMIC_F16: EACH(atomic_f16(a[i], b[i], mode));
    case REF_ATOMIC_BF16: EACH(atomic_16(a[i], b[i], 0x7F80, 0x7FC0, mode));
    case REF_ATOMIC_S32: EACH(atomic_integer(a[i], b[i], 32, mode));
    case REF_ATOMIC_S16: EACH(atomic_integer(a[i], b[i], 16, mode));
    case REF_ATOMIC_S8: EACH(atomic_integer(a[i], b[i], 8, mode));
    default: memset(y, 0xFF, (size_t)n * sizeof *y);
  }
}

// SPDX-License-Identifier: Apache-2.0
// Inputs of the proofs. Units of one 32-bit operand and of two 16-bit ones are swept in full; those
// of two 32-bit operands by pairs made from the index, with fractions, exponents and distances near
// rounding boundaries. Corners: values of the destination format, the middles between
// them, their neighbours, special values with each other.
#include "inputs.h"

#include <algorithm>
#include <cmath>
#include <cstring>

extern "C++" {
#include "reference.h"
}

namespace {

using Inputs = std::vector<Operands>;

constexpr uint32_t SIGN = 0x80000000u;
constexpr uint64_t ALL = uint64_t{1} << 32;

uint64_t mix(uint64_t z) {  // splitmix64
  z += 0x9E3779B97F4A7C15ull;
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ z >> 27) * 0x94D049BB133111EBull;
  return z ^ z >> 31;
}

uint32_t float_bits(double v) {
  const float f = static_cast<float>(v);
  uint32_t bits;
  std::memcpy(&bits, &f, sizeof bits);
  return bits;
}

uint32_t word(int64_t v) { return static_cast<uint32_t>(static_cast<uint64_t>(v)); }

void both_signs(Inputs &out, uint32_t magnitude) {
  out.push_back({magnitude & ~SIGN, 0});
  out.push_back({magnitude | SIGN, 0});
}

void around(Inputs &out, uint32_t bits) {
  for (int d = -2; d <= 2; d++) both_signs(out, word(int64_t{bits} + d));
}

// --- one operand ---------------------------------------------------------------------------------

Operands one_word(uint64_t i) { return {static_cast<uint32_t>(i), 0}; }

// Every exponent with fractions of few bits, of all ones and next to them; NaNs of every kind.
void special_floats(Inputs &out) {
  for (uint32_t field = 0; field < 256; field++)
    for (int bit = 0; bit < 24; bit++) {
      const uint32_t one = field << 23 | ((1u << bit) & 0x7FFFFFu);
      both_signs(out, one);
      both_signs(out, one | 1);
      both_signs(out, field << 23 | ((1u << bit) - 1));
      both_signs(out, field << 23 | (0x800000u - (1u << bit)));
    }
}

Inputs conversion(int unit) {
  Inputs out;
  const uint32_t *bits;
  const int n = ref_values(unit, &bits);
  for (int k = 0; k < n; k++) {
    around(out, bits[k]);
    // Values of a format and the middles between them are evenly spaced in a binade of f32 bits,
    // and among the numbers that are subnormal in f32 too.
    if (k + 1 < n) around(out, bits[k] + (bits[k + 1] - bits[k]) / 2);
  }
  special_floats(out);
  return out;
}

Inputs conversion_f16() {
  Inputs out = conversion(REF_F16);
  for (uint32_t m = 0x33000000; m < 0x38800000; m += 0x1000) both_signs(out, m);  // subnormals
  return out;
}
Inputs conversion_bf16() { return conversion(REF_BF16); }
Inputs conversion_e4m3() {
  Inputs out = conversion(REF_E4M3);
  for (uint32_t m = 0x3A000000; m < 0x44000000; m += 0x2000) around(out, m);
  return out;
}

// The threshold of hybrid rounding is the low end of the fraction, compared with the bits below the
// last one kept: equal when the fraction repeats itself with the distance of the two.
Inputs conversion_hif8() {
  Inputs out = conversion(REF_HIF8);
  for (uint32_t m = 0x33000000; m < 0x48000000; m += 0x10000) around(out, m);
  for (int e = -24; e <= 16; e++) {
    const int size = e < 0 ? -e : e;
    const int period = e == -23 ? 10 : e < -15 ? 9 : size > 7 ? 8 : 7;
    for (uint32_t low = 0; low < 1u << period; low++) {
      uint32_t f = low;
      for (int p = period; p < 23; p += period) f |= low << p;
      f &= 0x7FFFFFu;
      const uint32_t base = static_cast<uint32_t>(e + 127) << 23;
      out.push_back({base | f, 0});
      for (int bit = 0; bit < 23; bit++) out.push_back({base | (f ^ 1u << bit), 0});
      for (uint32_t top = 1; top < 16; top++) out.push_back({SIGN | base | (f ^ top << 19), 0});
    }
  }
  return out;
}

// Integers of every length, with the bits beyond 24 and 11 at and next to the tie.
Inputs integers() {
  Inputs out;
  for (int64_t v = -70000; v <= 70000; v++)
    if (std::llabs(v) < 4200 || std::llabs(v) > 65400 || v % 16 <= 1) out.push_back({word(v), 0});
  for (int length = 1; length <= 32; length++) {
    for (int64_t d = -4; d <= 4; d++)
      for (int64_t s : {1, -1}) out.push_back({word(s * ((int64_t{1} << length) / 2 + d)), 0});
    for (int kept : {24, 11}) {
      if (length <= kept) continue;
      const int64_t unit = int64_t{1} << (length - kept);
      for (uint64_t n = 0; n < 400; n++) {
        const int64_t ones = (int64_t{1} << kept) - 1;
        const int64_t top = n < 4 ? ones - static_cast<int64_t>(n)
                                  : (int64_t{1} << (kept - 1)) |
                                        static_cast<int64_t>(mix(n) & (ones >> 1));
        for (int64_t rest : {int64_t{0}, int64_t{1}, unit / 2 - 1, unit / 2, unit / 2 + 1, unit - 1})
          for (int64_t s : {1, -1}) out.push_back({word(s * (top * unit + rest)), 0});
      }
    }
  }
  return out;
}

// Floats at and next to integers and halves, of every size up to 2^36.
Inputs rounding() {
  Inputs out;
  for (int half = 0; half <= 1200; half++) around(out, float_bits(half / 2.0));
  for (int e = 8; e <= 36; e++)
    for (uint64_t n = 0; n < 200; n++) {
      const double whole = std::floor(std::ldexp(1.0 + std::ldexp(mix(n) >> 12, -52), e));
      for (double v : {whole, whole + 0.5, std::ldexp(1.0, e) - 0.5, std::ldexp(1.0, e) + 0.5})
        around(out, float_bits(v));
    }
  special_floats(out);
  return out;
}

// All finite f16: 63488 of them.
Operands finite_f16(uint64_t i) {
  const auto n = static_cast<uint32_t>(i);
  return {n < 0x7C00 ? n : n - 0x7C00 + 0x8000, 0};
}
Inputs none() { return {}; }

// --- integer destinations ------------------------------------------------------------------------

struct Kind {
  int64_t low, high;              // of the destination
  int64_t stage_low, stage_high;  // of the stage
  int offset;                     // the offset is -offset .. offset - 1
  int64_t clip;                   // greatest legal clip, 0 if there is none
};
constexpr int64_t BEYOND = 8589934592LL;  // 2^33
constexpr Kind KINDS[] = {{-8, 7, -16, 15, 16, 7},
                          {0, 255, -256, 255, 256, 255},
                          {-128, 127, -256, 255, 256, 127},
                          {-32768, 32767, -65536, 65535, 65536, 32767},
                          {-2147483648LL, 2147483647LL, -BEYOND, BEYOND, 256, 0}};

Operands narrow(int64_t q, int64_t offset, int64_t clip) {
  return {word(q), ref_narrow_b(q, static_cast<int>(offset)), word(clip)};
}

// Offsets of a kind: its ends, those around 0, those that take q to a limit or to clip, and any.
int64_t offset_of(const Kind &k, uint64_t r, int64_t q, int64_t clip) {
  const int64_t any = static_cast<int64_t>(r >> 8) % k.offset;
  const int64_t near = static_cast<int64_t>(r >> 4 & 7) - 4;
  int64_t offset = r & 1 ? any : -any - 1;
  switch (r >> 1 & 7) {
    case 0: offset = near; break;
    case 1: offset = r & 1 ? k.offset - 1 - (near & 3) : -k.offset + (near & 3); break;
    case 2: offset = k.low - q + near; break;
    case 3: offset = k.high - q + near; break;
    case 4: offset = clip - q + near; break;
    default: break;
  }
  return std::clamp(offset, int64_t{-k.offset}, int64_t{k.offset} - 1);
}

// Every q of the stage, every offset, every legal clip and none.
template <int kind>
Operands narrow_all(uint64_t i) {
  constexpr uint64_t offsets = 2 * KINDS[kind].offset;
  constexpr uint64_t stage = KINDS[kind].stage_high - KINDS[kind].stage_low + 1;
  return narrow(static_cast<int64_t>(i / offsets % stage) + KINDS[kind].stage_low,
                static_cast<int64_t>(i % offsets) - KINDS[kind].offset,
                static_cast<int64_t>(i / offsets / stage));
}

constexpr int64_t CLIPS_16[] = {0, 1, 2, 100, 255, 256, 257, 1000, 32511, 32512, 32766, 32767};
constexpr uint64_t OFFSETS_16 = 256;  // of each q of step S17 and each of these clips
constexpr uint64_t NEAR_32 = 3000;    // around each limit and 0
constexpr uint64_t FAR = 200000;      // q of any size up to 2^33

int64_t far(uint64_t n) {
  const uint64_t r = mix(n);
  const int64_t size = static_cast<int64_t>(((r >> 24) | 1ull << 39) >> (r % 40 + 6));
  const int64_t near = (r >> 8) & 3 ? size : (int64_t{1} << (r % 34)) - ((r >> 10) & 1);
  return r & 128 ? -near : near;
}

Operands narrow_16(uint64_t i) {
  const int64_t q = static_cast<int64_t>(i / OFFSETS_16 / 12) - 65536;
  const int64_t clip = CLIPS_16[i / OFFSETS_16 % 12];
  return narrow(q, offset_of(KINDS[REF_S16], mix(i), q, clip), clip);
}

Operands narrow_32(uint64_t i) {
  constexpr int64_t middles[] = {-2147483648LL, 2147483647LL, 0, -BEYOND + 1500, BEYOND - 1500};
  const uint64_t n = i / 512;
  const int64_t q = n < 5 * NEAR_32 ? middles[n / NEAR_32] + static_cast<int64_t>(n % NEAR_32) - 1500
                                    : far(n);
  return narrow(q, static_cast<int64_t>(i % 512) - 256, 0);
}

template <int kind>
Inputs narrow_corners() {
  Inputs out;
  const Kind k = KINDS[kind];
  const int64_t o = k.offset;
  for (int64_t offset : {-o, -o + 1, -o / 2, int64_t{-8}, int64_t{-1}, int64_t{0}, int64_t{1},
                         int64_t{7}, o / 2, o / 2 - 1, o - 2, o - 1})
    for (int64_t clip : {int64_t{0}, int64_t{1}, int64_t{3}, k.high / 2, k.high - 1, k.high}) {
      if (clip > k.clip) continue;
      for (int64_t limit : {k.low, k.high, int64_t{0}, k.stage_low, k.stage_high, int64_t{3}})
        for (int64_t d = -2; d <= 2; d++)
          for (int64_t q : {limit + d, limit - offset + d, clip - offset + d})
            if (q >= k.stage_low && q <= k.stage_high) out.push_back(narrow(q, offset, clip));
    }
  return out;
}

// The offset, with any bits above it where the kind's field has fewer than 17.
uint32_t field_with(const Kind &k, int64_t offset, uint64_t r) {
  const auto used = static_cast<uint32_t>(2 * k.offset - 1);
  return (word(offset) & used) | (r & 1 ? static_cast<uint32_t>(r >> 1) & ~used : 0);
}

Operands tail(const Kind &k, uint32_t t, bool infinite, uint64_t r) {
  const int64_t clip = k.clip && r & 3 ? 1 + static_cast<int64_t>(r >> 40) % k.clip : 0;
  const int64_t offset = offset_of(k, r >> 2, r & 1 << 20 ? k.stage_low : k.stage_high, clip);
  return {t, ref_tail_b(field_with(k, offset, mix(r)), infinite), word(clip)};
}

// Numbers of the size of the stage, and any bits; s is an infinity where t is one or no number.
template <int kind>
Operands tail_any(uint64_t i) {
  const uint64_t r = mix(i);
  const Kind &k = KINDS[kind];
  auto t = static_cast<uint32_t>(r >> 32);
  if (r & 15) {
    const auto greatest = static_cast<double>(k.stage_high) * 1.25;
    const auto part = static_cast<double>(t) / 2147483648.0 - 1;
    t = float_bits(part * std::ldexp(greatest, -static_cast<int>(r >> 4 & 15)));
  } else if ((r & 0x7F0) == 0) {
    t = (t & SIGN) | 0x7F800000u | (t & 1 ? t & 0x7FFFFFu : 0);
  }
  return tail(k, t, (t & ~SIGN) >= 0x7F800000u && r >> 11 & 1, mix(r));
}

template <int kind>
Inputs tail_corners() {
  Inputs out;
  const Kind &k = KINDS[kind];
  for (const Operands &n : narrow_corners<kind>()) {
    const uint32_t field = field_with(k, n.b >> 3 & 0x1FFFFu, mix(n.a ^ n.b));
    for (uint32_t t : {0u, SIGN, 0x7F800000u, 0xFF800000u, 0x7FC00000u, 0xFF800001u, 0x7F7FFFFFu})
      for (int infinite : {0, 1})
        if (!infinite || (t & ~SIGN) >= 0x7F800000u)
          out.push_back({t, ref_tail_b(field, infinite), n.c});
    const auto q = static_cast<double>(static_cast<int64_t>(uint64_t{n.b & 3u} << 32 | n.a) -
                                       (n.b & 4u ? int64_t{4} << 32 : 0));
    for (double d : {-0.5, 0.0, 0.5}) out.push_back({float_bits(q + d), ref_tail_b(field, 0), n.c});
  }
  Inputs floats = rounding();
  for (size_t i = 0; i < floats.size(); i++) {
    const uint32_t t = floats[i].a;
    out.push_back(tail(k, t, (t & ~SIGN) >= 0x7F800000u && i & 1, mix(i)));
  }
  return out;
}

// --- ReLU and clip -------------------------------------------------------------------------------

uint32_t alpha_of(uint64_t r) {
  const auto bits = static_cast<uint32_t>(r) & 0xFFFFE000u;
  switch (r >> 32 & 3) {
    case 0: return bits;                                                // any
    case 1: return (bits & 0x807FE000u) | (100 + (r >> 40) % 60) << 23;  // near 1
    case 2: return (bits & 0xFF800000u);                                // a power of two
    default: return (r >> 40) % 8 == 0 ? (r >> 48 & 1) << 31 : 0x3E800000u;
  }
}

Operands relu(uint64_t i) { return {static_cast<uint32_t>(i), alpha_of(mix(i))}; }

uint32_t legal_clip(uint64_t n) { return 1 + static_cast<uint32_t>(n % 0x7BFF); }

Operands clip(uint64_t i) { return {static_cast<uint32_t>(i), legal_clip(mix(i >> 4))}; }

Inputs clip_corners() {
  Inputs out;
  for (uint32_t c = 1; c <= 0x7BFF; c++)
    for (int d = -1; d <= 1; d++)
      for (uint32_t s : {0u, SIGN}) out.push_back({s | (ref_widen_f16(c) + d), c});
  Inputs floats;
  special_floats(floats);
  for (const Operands &x : floats)
    for (uint32_t c : {0x0001u, 0x03FFu, 0x0400u, 0x3C00u, 0x7BFFu}) out.push_back({x.a, c});
  return out;
}

// --- pairs of f32 --------------------------------------------------------------------------------

std::vector<uint32_t> special_f32() {
  std::vector<uint32_t> list;
  for (uint32_t bits :
       {0u,          1u,          2u,          3u,          4u,          0x2AAAAAu,   0x3FFFFFu,
        0x400000u,   0x400001u,   0x7FFFFEu,   0x7FFFFFu,   0x800000u,   0x800001u,   0x800002u,
        0xBFFFFFu,   0xC00000u,   0xFFFFFFu,   0x01000000u, 0x01000001u, 0x017FFFFFu, 0x01800000u,
        0x0B800000u, 0x0C000000u, 0x0C800000u, 0x0C7FFFFFu, 0x1FFFFFFFu, 0x20000000u, 0x20000001u,
        0x1F800000u, 0x1F7FFFFFu, 0x1FC00000u, 0x1F3504F3u, 0x1F3504F4u, 0x33000000u, 0x33800000u,
        0x33800001u, 0x34000000u, 0x34000001u, 0x3EFFFFFFu, 0x3F000000u, 0x3F000001u, 0x3F7FFFFEu,
        0x3F7FFFFFu, 0x3F800000u, 0x3F800001u, 0x3F800002u, 0x3FAAAAAAu, 0x3FB504F3u, 0x3FBFFFFFu,
        0x3FC00000u, 0x3FC00001u, 0x3FFFFFFEu, 0x3FFFFFFFu, 0x40000000u, 0x40000001u, 0x40400000u,
        0x4B000000u, 0x4B7FFFFFu, 0x4B800000u, 0x4B800001u, 0x4C000000u, 0x5F000000u, 0x5F3504F3u,
        0x5F3504F4u, 0x5F7FFFFFu, 0x5F800000u, 0x5F800001u, 0x60000000u, 0x72800000u, 0x73000000u,
        0x7E800000u, 0x7EFFFFFFu, 0x7F000000u, 0x7F000001u, 0x7F7FFFFEu, 0x7F7FFFFFu, 0x7F800000u,
        0x7F800001u, 0x7FBFFFFFu, 0x7FC00000u, 0x7FC00001u, 0x7FFFFFFFu}) {
    list.push_back(bits);
    list.push_back(bits | SIGN);
  }
  for (uint32_t field = 1; field < 255; field += 6)
    for (uint32_t f : {0u, 0x7FFFFFu, 0x400001u}) list.push_back(field << 23 | f);
  return list;
}

Inputs all_pairs(const std::vector<uint32_t> &list) {
  Inputs out;
  for (uint32_t a : list)
    for (uint32_t b : list) out.push_back({a, b});
  return out;
}

// f * g = rest (mod 2^24) for an odd f: the inverse by Newton's steps.
uint32_t factor(uint32_t f, uint32_t rest) {
  uint32_t inverse = f;
  for (int n = 0; n < 5; n++) inverse *= 2 - f * inverse;
  return inverse * rest & 0xFFFFFFu;
}

// A fraction of 23 bits: any, with zeros at its end, all ones but a few.
uint32_t fraction(uint64_t r) {
  const uint32_t any = static_cast<uint32_t>(r) & 0x7FFFFFu;
  const int n = r >> 24 & 31;
  switch (r >> 30 & 3) {
    case 0: return any;
    case 1: return n > 23 ? 0 : any & 0x7FFFFFu << n & 0x7FFFFFu;
    case 2: return 0x7FFFFFu ^ (n > 22 ? 0 : 1u << n);
    default: return n > 22 ? any : 1u << n;
  }
}

uint32_t field_of(int e) { return static_cast<uint32_t>(std::clamp(e, 0, 254)) << 23; }

Operands product(uint64_t i) {
  const uint64_t r = mix(i), s = mix(r);
  uint32_t a = fraction(r), b = fraction(s);
  const int ea = static_cast<int>(r >> 32 & 255);
  // The field of the product: anywhere, around the least normal and subnormal, around overflow.
  static const int goals[] = {127, 1, -12, -23, 254, 255, 60, 200};
  const int eb = goals[s >> 32 & 7] + 127 - ea + static_cast<int>(s >> 36 & 7) - 4;
  const int last = 22 + static_cast<int>(r >> 41 & 1);  // first bit lost of 46 + 1 product bits
  switch (r >> 42 & 7) {
    case 0: return {static_cast<uint32_t>(r >> 8), static_cast<uint32_t>(s >> 8)};
    case 1: {  // a tie or next to one
      const uint32_t f = a | 0x800001u;
      const uint32_t g = factor(f, (1u << last) + static_cast<uint32_t>(s >> 40 & 3) - 1);
      if (g & 0x800000u) a = f & 0x7FFFFFu, b = g & 0x7FFFFFu;
      break;
    }
    case 2: {  // a tie: zeros at the ends of both add up to the bits lost but one
      const int zeros = static_cast<int>(s >> 44) % (last + 1);
      a = ((a | 1u) << zeros) & 0x7FFFFFu;
      b = ((b | 1u) << (last - zeros)) & 0x7FFFFFu;
      break;
    }
    default: break;
  }
  const uint32_t sign_a = static_cast<uint32_t>(r >> 63) << 31;
  const uint32_t sign_b = static_cast<uint32_t>(s >> 63) << 31;
  return {sign_a | field_of(ea) | a, sign_b | field_of(eb) | b};
}

Operands sum(uint64_t i) {
  const uint64_t r = mix(i), s = mix(r);
  if ((r >> 60 & 7) == 0) return {static_cast<uint32_t>(r), static_cast<uint32_t>(s)};
  int ea = static_cast<int>(r >> 32 & 255);
  if ((r >> 40 & 7) == 0) ea &= 31;         // around the subnormals
  if ((r >> 40 & 7) == 1) ea = 254 - (ea & 1);
  const int gap = static_cast<int>(s >> 32 & 0xFF) % 29;
  const int eb = r >> 43 & 1 ? ea - gap : ea + gap;
  const uint32_t a = static_cast<uint32_t>(r >> 63) << 31 | field_of(ea) | fraction(r);
  uint32_t b = static_cast<uint32_t>(s >> 63) << 31 | field_of(eb) | fraction(s);
  if ((s >> 40 & 15) == 0) b = (a ^ SIGN) + static_cast<uint32_t>(s & 3) - 1;  // cancellation
  return {a, b};
}

Inputs product_corners() {
  Inputs out = all_pairs(special_f32());
  for (uint64_t i = 0; i < 400000; i++) out.push_back(product(~i));
  return out;
}

Inputs sum_corners() {
  Inputs out = all_pairs(special_f32());
  for (uint64_t i = 0; i < 400000; i++) out.push_back(sum(~i));
  return out;
}

Inputs relu_corners() {
  std::vector<uint32_t> alphas;
  for (uint32_t bits : special_f32()) alphas.push_back(bits & 0xFFFFE000u);
  for (uint32_t bits : {0x3E800000u, 0xBE800000u, 0x3DCCC000u, 0x3C23C000u})
    alphas.push_back(bits);
  std::sort(alphas.begin(), alphas.end());
  alphas.erase(std::unique(alphas.begin(), alphas.end()), alphas.end());
  Inputs out;
  for (uint32_t t : special_f32())
    for (uint32_t alpha : alphas) out.push_back({t, alpha});
  for (uint64_t i = 0; i < 100000; i++) {
    const Operands p = product(~i);
    out.push_back({p.a | SIGN, p.b & 0xFFFFE000u});
  }
  return out;
}

// --- pairs of 16 bits and of integers --------------------------------------------------------------

Operands pair_16(uint64_t i) {
  return {static_cast<uint32_t>(i >> 16) & 0xFFFFu, static_cast<uint32_t>(i) & 0xFFFFu};
}

Operands pair_8(uint64_t i) {
  return {static_cast<uint32_t>(i >> 8) & 0xFFu, static_cast<uint32_t>(i) & 0xFFu};
}

// Every pair of a dense set, and sums with the small operand at and next to half a last place.
Inputs pairs_of_16(int m, const std::vector<int> &fields) {
  std::vector<uint32_t> list;
  const uint32_t ones = (1u << m) - 1;
  for (int field : fields)
    for (uint32_t f : {0u, 1u, 2u, ones / 2, ones / 2 + 1, ones - 1, ones})
      for (uint32_t s : {0u, 0x8000u}) list.push_back(s | static_cast<uint32_t>(field) << m | f);
  Inputs out = all_pairs(list);
  const int top = (1 << (15 - m)) - 1;
  for (uint64_t i = 0; i < 300000; i++) {
    const uint64_t r = mix(i);
    const int e = static_cast<int>(r >> 32 & 0xFF) % (top + 1);
    const int gap = static_cast<int>(r >> 40 & 0xFF) % (m + 4);
    const uint32_t lost = static_cast<uint32_t>(r >> 16) & ones & ~(ones >> (r >> 48) % (m + 1));
    const uint32_t a = static_cast<uint32_t>(r) & (ones | 0x8000u);
    const uint32_t b = (static_cast<uint32_t>(r >> 60) & 1u) << 15 | lost;
    out.push_back({a | static_cast<uint32_t>(e) << m,
                   b | static_cast<uint32_t>(std::max(e - gap, 0)) << m});
  }
  return out;
}

Inputs pairs_f16() {
  std::vector<int> fields;
  for (int e = 0; e < 32; e++) fields.push_back(e);
  return pairs_of_16(10, fields);
}

Inputs pairs_bf16() {
  std::vector<int> fields;
  for (int e : {0, 1, 2, 3, 7, 8, 9, 10, 60, 117, 118, 119, 120, 121, 125, 126, 127, 128, 129, 135})
    fields.push_back(e);
  for (int e = 243; e < 256; e++) fields.push_back(e);
  return pairs_of_16(7, fields);
}

Operands pair_32(uint64_t i) {
  const uint64_t r = mix(i);
  auto a = static_cast<uint32_t>(r), b = static_cast<uint32_t>(r >> 32);
  const uint64_t s = mix(r);
  if (s & 1) a = a << (s >> 8 & 31) | (s & 2 ? (1u << (s >> 8 & 31)) - 1 : 0);
  if (s & 4) b = (s & 8 ? ~a : a) + static_cast<uint32_t>(s >> 16 & 3) - 1;
  return {a, b};
}

template <int bits>
Inputs integer_pairs() {
  std::vector<uint32_t> list;
  constexpr uint64_t mask = (uint64_t{1} << bits) - 1;
  for (int k = 0; k < bits; k++)
    for (int64_t d = -2; d <= 2; d++)
      for (int64_t s : {1, -1})
        list.push_back(static_cast<uint32_t>(static_cast<uint64_t>(s * ((int64_t{1} << k) + d)) &
                                             mask));
  return all_pairs(list);
}

}  // namespace

const std::vector<Unit> &units() {
  static const std::vector<int> one = {0}, sats = {0, 1, 2}, ops = {0, 1, 2};
  static const std::vector<Unit> list = {
      {"f16", "f32 to f16, 3 sat", REF_F16, sats, ALL, one_word, conversion_f16},
      {"bf16", "f32 to bf16, 3 sat", REF_BF16, sats, ALL, one_word, conversion_bf16},
      {"e4m3", "f32 to e4m3fn, 3 sat", REF_E4M3, sats, ALL, one_word, conversion_e4m3},
      {"hif8", "f32 to hif8, 3 sat, 2 roundings", REF_HIF8, {0, 1, 2, 4, 5, 6}, ALL, one_word,
       conversion_hif8},
      {"h", "step H", REF_H, one, ALL, one_word, conversion_f16},
      {"hi", "step HI", REF_HI, one, ALL, one_word, integers},
      {"f16_f32", "f16 to f32", REF_F16_F32, one, 63488, finite_f16, none},
      {"i32_f32", "i32 to f32", REF_I32_F32, one, ALL, one_word, integers},
      {"s5", "step S5", REF_S5, one, ALL, one_word, rounding},
      {"s9", "step S9", REF_S9, one, ALL, one_word, rounding},
      {"s17", "step S17", REF_S17, one, ALL, one_word, rounding},
      {"wide", "step WIDE", REF_WIDE, one, ALL, one_word, rounding},
      {"s4", "narrow to s4", REF_NARROW, {0}, 8 * 1024, narrow_all<0>, narrow_corners<0>},
      {"u8", "narrow to u8", REF_NARROW, {1}, 256 * 262144, narrow_all<1>, narrow_corners<1>},
      {"s8", "narrow to s8", REF_NARROW, {2}, 128 * 262144, narrow_all<2>, narrow_corners<2>},
      {"s16", "narrow to s16", REF_NARROW, {3}, 131072 * 12 * OFFSETS_16, narrow_16,
       narrow_corners<3>},
      {"s32", "narrow to s32", REF_NARROW, {4}, (5 * NEAR_32 + FAR) * 512, narrow_32,
       narrow_corners<4>},
      {"tail_s4", "all from t to s4", REF_TAIL, {0}, ALL / 16, tail_any<0>, tail_corners<0>},
      {"tail_u8", "all from t to u8", REF_TAIL, {1}, ALL / 16, tail_any<1>, tail_corners<1>},
      {"tail_s8", "all from t to s8", REF_TAIL, {2}, ALL / 16, tail_any<2>, tail_corners<2>},
      {"tail_s16", "all from t to s16", REF_TAIL, {3}, ALL / 16, tail_any<3>, tail_corners<3>},
      {"tail_s32", "all from t to s32", REF_TAIL, {4}, ALL / 16, tail_any<4>, tail_corners<4>},
      {"relu", "ReLU, 4 codes", REF_RELU, {0, 1, 2, 3}, ALL, relu, relu_corners},
      {"relu_i32", "ReLU of i32", REF_RELU_I32, one, ALL, one_word, integers},
      {"clip_f16", "clip for f16", REF_CLIP_F16, one, ALL, clip, clip_corners},
      {"mul", "f32 product", REF_MUL, one, ALL / 4, product, product_corners},
      {"atomic_f32", "atomic f32, 3 ops", REF_ATOMIC_F32, ops, ALL / 4, sum, sum_corners},
      {"atomic_f16", "atomic f16, 3 ops, 2 c48", REF_ATOMIC_F16, {0, 1, 2, 4, 5, 6}, ALL, pair_16,
       pairs_f16},
      {"atomic_bf16", "atomic bf16, 3 ops", REF_ATOMIC_BF16, ops, ALL, pair_16, pairs_bf16},
      {"atomic_s32", "atomic s32, 3 ops", REF_ATOMIC_S32, ops, ALL / 4, pair_32, integer_pairs<32>},
      {"atomic_s16", "atomic s16, 3 ops", REF_ATOMIC_S16, ops, ALL, pair_16, integer_pairs<16>},
      {"atomic_s8", "atomic s8, 3 ops", REF_ATOMIC_S8, ops, 65536, pair_8, integer_pairs<8>},
  };
  return list;
}

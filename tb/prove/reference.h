/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The write-back arithmetic of docs/spec/fixpipe.md sections 3 to 9, from definitions: a number
 * format is the list of its values, rounding is a choice between two neighbours of that list.
 * Nothing here is shared with the RTL or with the model of scoreboards/.
 */
#ifndef PTO_ARITH_REFERENCE_H
#define PTO_ARITH_REFERENCE_H

#include <stdint.h>

/* What is proven; the numbers are those of prove_units.vh. */
enum ref_unit {
  REF_F16 = 0,        /* a: f32; mode: sat clause, 0 sat, 1 preserve_nan, 2 nosat */
  REF_BF16 = 1,       /* the same */
  REF_E4M3 = 2,       /* the same */
  REF_HIF8 = 3,       /* the same, + 4 for hybrid rounding */
  REF_H = 4,          /* a: f32, step H */
  REF_HI = 5,         /* a: i32, step HI */
  REF_F16_F32 = 6,    /* a: finite f16 */
  REF_I32_F32 = 7,    /* a: i32 */
  REF_S9 = 8,         /* a: f32; y: q, sign extended */
  REF_WIDE = 9,       /* a: f32; z and y: q as 64-bit two's complement */
  REF_NARROW = 10,    /* a, b: see ref_narrow_b; c: clip, 0 for none; mode: a kind, below */
  REF_RELU = 11,      /* a: f32, b: alpha; mode: code of pre_relu */
  REF_RELU_I32 = 12,  /* a: i32 */
  REF_CLIP_F16 = 13,  /* a: f32, b: clip as f16 */
  REF_MUL = 14,       /* a, b: f32 */
  REF_ATOMIC_F32 = 15, /* a: old, b: new; mode: 0 add, 1 max, 2 min */
  REF_ATOMIC_F16 = 16, /* the same; mode + 4: c48 = 1 */
  REF_ATOMIC_BF16 = 17,
  REF_ATOMIC_S32 = 18,
  REF_ATOMIC_S16 = 19,
  REF_ATOMIC_S8 = 20,
  REF_S5 = 21,        /* as REF_S9 */
  REF_S17 = 22,       /* as REF_S9 */
  REF_TAIL = 23       /* a: t; b: see ref_tail_b; c: clip, 0 for none; mode: a kind; y: element */
};

/* Kinds of integer destinations: stage, width of the offset and range (section 4). */
enum ref_kind { REF_S4, REF_U8, REF_S8, REF_S16, REF_S32 };

/* Builds the tables; the first call of all. Returns 0, or 1 when the host has no IEEE floats. */
int ref_init(void);

/* n results; y holds the low, z the high word (0, but for REF_WIDE). */
void ref_block(int unit, int mode, int n, const uint32_t *a, const uint32_t *b, const uint32_t *c,
               uint32_t *y, uint32_t *z);

/* 1 when the spec leaves the result open and (y, z) is one of the results it allows. */
int ref_accepts(int unit, int mode, uint32_t a, uint32_t b, uint32_t y, uint32_t z);

/* The second operand of REF_NARROW: bits 34..32 of q in 2..0, offset of 17 bits in 19..3. */
uint32_t ref_narrow_b(int64_t q, int offset);

/* The second operand of REF_TAIL: bits 53..37 of a record in 16..0, of which the kind takes its
 * offset; 17: s is an infinity. */
uint32_t ref_tail_b(uint32_t field, int infinite);

/* f32 bits of the value of a finite f16 code. */
uint32_t ref_widen_f16(uint32_t code);

/* Every finite magnitude of the destination format of a conversion, and the one that would follow
 * the greatest: f32 bits, ascending. Returns how many there are, that one included. */
int ref_values(int unit, const uint32_t **bits);

/* Compares this file's float arithmetic with sums and products of integers on `count` random
 * operands; returns the number of differences. */
uint64_t ref_self_check(uint64_t count);

#endif

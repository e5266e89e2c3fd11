// SPDX-License-Identifier: Apache-2.0
//
// One copy of the functions under proof with the logic to evaluate them, for a generate block of
// prove_arith.v. Set before each use: PROVE_CONVERT, PROVE_ARITH, PROVE_MUL and PROVE_ATOMIC, the
// headers; PROVE_VARIANT, the number of this copy; PROVE_ONLY, the one unit it has, or -1 for all.
// Unit numbers, operands and results: enum ref_unit in reference.h.

// verilator lint_off UNUSEDSIGNAL
`include `PROVE_CONVERT
`include `PROVE_ARITH
`include `PROVE_MUL
`include `PROVE_ATOMIC
// verilator lint_on UNUSEDSIGNAL

// The stages of pto_gm_combine, one after the other.
function automatic [31:0] prove_atomic;
  input [31:0] old;
  input [31:0] y;
  input [2:0]  kind;
  input [2:0]  mode;                         // nosat, op
  reg   [34:0] a, b;
  begin
    a = fix_atomic_normal(fix_atomic_sum(
          fix_atomic_operands(old, y, kind, mode[1:0], mode[2]), kind), kind);
    b = fix_atomic_normal(fix_atomic_sum(
          fix_atomic_operands({old[15:0], 16'd0}, {y[15:0], 16'd0}, {kind[2], 2'd2}, mode[1:0],
                              mode[2]), ATOMIC_F16), ATOMIC_F16);
    prove_atomic = fix_atomic_result(a, b, kind, mode[2] || mode[1:0] != 2'd0);
  end
endfunction

// Two equal elements of 16 bits in a word have equal results: else the upper half is not 0.
function automatic [31:0] prove_atomic_16;
  input [15:0] old;
  input [15:0] y;
  input [2:0]  kind;
  input [2:0]  mode;
  reg   [31:0] both;
  begin
    both = prove_atomic({old, old}, {y, y}, kind, mode);
    prove_atomic_16 = {both[31:16] ^ both[15:0], both[15:0]};
  end
endfunction

// The same for four of 8 bits.
function automatic [31:0] prove_atomic_8;
  input [7:0] old;
  input [7:0] y;
  input [2:0] mode;
  reg   [31:0] all;
  begin
    all = prove_atomic({4{old}}, {4{y}}, ATOMIC_S8, mode);
    prove_atomic_8 = {all[31:8] ^ {3{all[7:0]}}, all[7:0]};
  end
endfunction

// ---- functions that a pipeline calls in turn ----

function automatic [31:0] product;
  input [31:0] a;
  input [31:0] b;
  product = fix_mul_round(fix_mul_normal(fix_mul_product(a, b)));
endfunction

function automatic [31:0] relu;
  input [31:0] t;
  input [2:0]  code;
  input [31:0] alpha;
  relu = fix_relu_scales(t, code[1]) ? product(alpha, t) : fix_relu(t, code);
endfunction

function automatic [31:0] narrow;            // offset, clip and clamp
  input signed [34:0] q;
  input signed [16:0] offset;
  input               clip_en;
  input        [15:0] clip;
  input        [2:0]  kind;
  narrow = fix_clamp(fix_clip_int(q, offset, clip_en, clip), kind);
endfunction

function automatic [31:0] to_int;            // all steps after relu
  input [31:0] t;
  input        inf_src;
  input [16:0] field;
  input        clip_en;
  input [15:0] clip;
  input [2:0]  kind;
  to_int = narrow(fix_stage(fix_round_wide(t), kind), fix_offset(t[30:0], inf_src, field, kind),
                  clip_en, clip, kind);
endfunction

always @(posedge go_i)
  if (variant_i == `PROVE_VARIANT)
    case (unit_i)
      `PROVE_UNIT(0, {16'd0, fix_f32_to_f16(op_a[k], mode_i[1:0])})
      `PROVE_UNIT(1, {16'd0, fix_f32_to_bf16(op_a[k], mode_i[1:0])})
      `PROVE_UNIT(2, {24'd0, fix_f32_to_e4m3(op_a[k], mode_i[1:0])})
      `PROVE_UNIT(3, {24'd0, fix_f32_to_hif8(op_a[k], mode_i[1:0], mode_i[2])})
      `PROVE_UNIT(4, {16'd0, fix_f32_to_h(op_a[k])})
      `PROVE_UNIT(5, {16'd0, fix_f32_to_h(fix_i32_to_f32(op_a[k]))})
      `PROVE_UNIT(6, fix_f16_to_f32(op_a[k][15:0]))
      `PROVE_UNIT(7, fix_i32_to_f32(op_a[k]))
      `PROVE_ROUND(8, fix_stage(fix_round_wide(op_a[k]), 3'd1))
      `PROVE_ROUND(9, fix_round_wide(op_a[k]))
      `PROVE_UNIT(10, narrow({op_b[k][2:0], op_a[k]}, op_b[k][19:3], op_c[k] != 32'd0, op_c[k][15:0], mode_i))
      `PROVE_UNIT(11, relu(op_a[k], mode_i, op_b[k]))
      `PROVE_UNIT(12, fix_relu_i32(op_a[k]))
      `PROVE_UNIT(13, fix_clip_f16(op_a[k], op_b[k][15:0]))
      `PROVE_UNIT(14, product(op_a[k], op_b[k]))
      `PROVE_UNIT(15, prove_atomic(op_a[k], op_b[k], ATOMIC_F32, mode_i))
      `PROVE_UNIT(16, prove_atomic_16(op_a[k][15:0], op_b[k][15:0], ATOMIC_F16, mode_i))
      `PROVE_UNIT(17, prove_atomic_16(op_a[k][15:0], op_b[k][15:0], ATOMIC_BF16, mode_i))
      `PROVE_UNIT(18, prove_atomic(op_a[k], op_b[k], ATOMIC_S32, mode_i))
      `PROVE_UNIT(19, prove_atomic_16(op_a[k][15:0], op_b[k][15:0], ATOMIC_S16, mode_i))
      `PROVE_UNIT(20, prove_atomic_8(op_a[k][7:0], op_b[k][7:0], mode_i))
      `PROVE_ROUND(21, fix_stage(fix_round_wide(op_a[k]), 3'd0))
      `PROVE_ROUND(22, fix_stage(fix_round_wide(op_a[k]), 3'd3))
      `PROVE_UNIT(23, to_int(op_a[k], op_b[k][17], op_b[k][16:0], op_c[k] != 32'd0, op_c[k][15:0], mode_i))
      default: ;
    endcase

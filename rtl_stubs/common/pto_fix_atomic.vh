// SPDX-License-Identifier: Apache-2.0
//
// Atomic combines of the write-back to GM: pure functions, to be included inside a module after
// pto_fix_convert.vh. old is what memory holds, y the result of the op; op: 0 add, 1 max, 2 min.
// Float sums are rounded once to nearest even, with subnormals, overflow to inf and canonical NaN;
// max and min give the canonical NaN for a NaN in either operand and take +0 as above -0. Integer
// sums wrap. Only f16 depends on the saturation mode (A-65): without nosat NaN becomes +0 and an
// infinite sum +-65504.
// A combine has four steps, each short enough for a clock: fix_atomic_operands, _sum, _normal and
// _result. Floats of 16 bits take the steps of f32, in the upper half of a word; integers are
// complete after the first step, and the others pass them in the low 32 bits.
// Test of the chain: tests/arith (`make prove-arith`), all pairs of the 8- and 16-bit types,
// constructed and random pairs of the others. Spec: fixpipe.md section 9; A-47, A-51.
localparam [2:0] ATOMIC_F32 = 3'd1, ATOMIC_F16 = 3'd2, ATOMIC_S16 = 3'd3, ATOMIC_S32 = 3'd4,
                 ATOMIC_S8  = 3'd5, ATOMIC_BF16 = 3'd6;

function automatic fix_atomic_half;          // f16 or bf16
  input [2:0] kind;
  fix_atomic_half = kind == ATOMIC_F16 || kind == ATOMIC_BF16;
endfunction

function automatic fix_atomic_float;
  input [2:0] kind;
  fix_atomic_float = kind == ATOMIC_F32 || fix_atomic_half(kind);
endfunction

function automatic [31:0] fix_atomic_s32;
  input [31:0] old;
  input [31:0] y;
  input [1:0]  op;
  begin
    if (op == 2'd0)                                       fix_atomic_s32 = old + y;
    else if (($signed(old) < $signed(y)) ^ (op == 2'd2))  fix_atomic_s32 = y;
    else                                                  fix_atomic_s32 = old;
  end
endfunction

function automatic [15:0] fix_atomic_s16;
  input [15:0] old;
  input [15:0] y;
  input [1:0]  op;
  begin
    if (op == 2'd0)                                       fix_atomic_s16 = old + y;
    else if (($signed(old) < $signed(y)) ^ (op == 2'd2))  fix_atomic_s16 = y;
    else                                                  fix_atomic_s16 = old;
  end
endfunction

function automatic [7:0] fix_atomic_s8;
  input [7:0] old;
  input [7:0] y;
  input [1:0] op;
  begin
    if (op == 2'd0)                                       fix_atomic_s8 = old + y;
    else if (($signed(old) < $signed(y)) ^ (op == 2'd2))  fix_atomic_s8 = y;
    else                                                  fix_atomic_s8 = old;
  end
endfunction

// The operands of a sum of floats as f32: x, the one of larger magnitude or, of equal ones, the
// positive one; 1 where the signs differ; the distance of the exponents, at most 28; and the
// significand of the other. A maximum or minimum is x, and its other operand 0.
function automatic [61:0] fix_atomic_operands;
  input [31:0] old;
  input [31:0] y;
  input [2:0]  kind;
  input [1:0]  op;
  input        nosat;
  reg   [31:0] a, b;                         // as f32
  reg   [31:0] x, other;                     // of larger magnitude, and not
  reg   [7:0]  ea, eb, d;                    // exponents, subnormals as 1, and their difference
  reg          less;
  if (fix_atomic_float(kind)) begin
    a    = kind == ATOMIC_F32 ? old : {old[31:16], 16'd0};
    b    = kind == ATOMIC_F32 ? y : {y[31:16], 16'd0};
    less = {a[30:0], !a[31]} < {b[30:0], !b[31]};           // f16 has the same order as f32
    if (kind == ATOMIC_F16) begin
      a = fix_f16_to_f32(old[31:16]);
      b = fix_f16_to_f32(y[31:16]);
    end
    ea = {a[30:24], a[23] || a[30:24] == 7'd0};
    eb = {b[30:24], b[23] || b[30:24] == 7'd0};
    d  = less ? eb - ea : ea - eb;
    {x, other} = less ? {b, a} : {a, b};
    if (op == 2'd0)
      fix_atomic_operands = {x, a[31] ^ b[31], d > 8'd28 ? 5'd28 : d[4:0],
                             other[30:23] != 8'd0, other[22:0]};
    else if (x[30:0] > 31'h7F80_0000)
      fix_atomic_operands = {kind != ATOMIC_F16 || nosat ? 32'h7FC0_0000 : 32'd0, 30'd0};
    else
      fix_atomic_operands = {x[31] ^ (op == 2'd2) ? other : x, 30'd0};
  end else begin
    case (kind)
      ATOMIC_S32: x = fix_atomic_s32(old, y, op);
      ATOMIC_S16: x = {fix_atomic_s16(old[31:16], y[31:16], op),
                       fix_atomic_s16(old[15:0], y[15:0], op)};
      ATOMIC_S8:  x = {fix_atomic_s8(old[31:24], y[31:24], op),
                       fix_atomic_s8(old[23:16], y[23:16], op),
                       fix_atomic_s8(old[15:8], y[15:8], op),
                       fix_atomic_s8(old[7:0], y[7:0], op)};
      default:    x = y;
    endcase
    fix_atomic_operands = {30'd0, x};
  end
endfunction

// The sum: NaN, sign, exponent, and magnitude as carry, 24 bits, guard, round and sticky.
function automatic [37:0] fix_atomic_sum;
  input [61:0] operands;
  input [2:0]  kind;
  reg   [31:0] x;
  reg          differ;                       // signs
  reg   [4:0]  d;
  reg   [23:0] other;
  reg   [54:0] w;
  reg   [27:0] m, n;
  if (fix_atomic_float(kind)) begin
    {x, differ, d, other} = operands;
    m = {1'b0, x[30:23] != 8'd0, x[22:0], 3'd0};
    w = {1'b0, other, 30'd0} >> d;
    n = {w[54:28], w[27:0] != 28'd0};
    m = differ ? m - n : m + n;
    if (x[30:23] == 8'd255)                  // inf - inf is NaN
      fix_atomic_sum = {x[22:0] != 23'd0 || (differ && d == 5'd0), x[31], 8'd255, 28'h400_0000};
    else
      fix_atomic_sum = {1'b0, x[31], x[30:24], x[23] || x[30:24] == 7'd0, m};
  end else begin
    fix_atomic_sum = {6'd0, operands[31:0]};
  end
endfunction

// The sum as f32, cut off, with guard, round and sticky.
function automatic [34:0] fix_atomic_normal;
  input [37:0] sum;
  input [2:0]  kind;
  reg          nan, s;
  reg   [7:0]  e;
  reg   [27:0] m, z;
  reg   [4:0]  n;                            // places up: to bit 26, but not below exponent 1
  if (fix_atomic_float(kind)) begin
    {nan, s, e, m} = sum;
    z    = m | 28'h800_0000 >> e;
    n[4] = z[26:11] == 16'd0;  if (n[4]) z = z << 16;
    n[3] = z[26:19] == 8'd0;   if (n[3]) z = z << 8;
    n[2] = z[26:23] == 4'd0;   if (n[2]) z = z << 4;
    n[1] = z[26:25] == 2'd0;   if (n[1]) z = z << 2;
    n[0] = !z[26];
    z    = m << n;
    if (nan)                           fix_atomic_normal = {32'h7FC0_0000, 3'd0};
    else if (m[27] && e == 8'd254)     fix_atomic_normal = {s, 31'h7F80_0000, 3'd0};
    else if (m[27])                    fix_atomic_normal = {s, e + 8'd1, m[26:2], m[1] || m[0]};
    else fix_atomic_normal = {s, z[26] ? e - {3'd0, n} : 8'd0, z[25:0]};
  end else begin
    fix_atomic_normal = {3'd0, sum[31:0]};
  end
endfunction

// The result; of 16-bit floats a is the upper one. They round from f32 with the bits below in its
// last bit, which is exact: 24 >= 2 * 11 + 2. An infinite operand saturates a sum, too, but not a
// maximum or minimum.
function automatic [31:0] fix_atomic_result;
  input [34:0] a;
  input [34:0] b;
  input [2:0]  kind;
  input        nosat;                        // sat is 2
  case (kind)
    ATOMIC_F32:  fix_atomic_result = a[34:3] + {31'd0, a[2] && (a[3] || a[1:0] != 2'd0)};
    ATOMIC_F16:  fix_atomic_result =
                   {fix_f32_to_f16({a[34:4], a[3:0] != 4'd0}, {nosat, 1'b0}),
                    fix_f32_to_f16({b[34:4], b[3:0] != 4'd0}, {nosat, 1'b0})};
    ATOMIC_BF16: fix_atomic_result = {fix_f32_to_bf16({a[34:4], a[3:0] != 4'd0}, 2'd2),
                                      fix_f32_to_bf16({b[34:4], b[3:0] != 4'd0}, 2'd2)};
    default:     fix_atomic_result = a[31:0];
  endcase
endfunction

// SPDX-License-Identifier: Apache-2.0
//
// Arithmetic of the write-back: 16 accumulators to 16 results, each word by its own quant mode,
// relu, clip and sat clause, so that words of different ops may follow each other. This module has
// the handshakes and decodes the controls, pto_fix_lane has the arithmetic.
// With AlphaReplace alpha takes the place of the scale for accumulators below 0: one product is the
// scale and the scalar_relu or vector_relu of a word. The relu stage has them in all other cases.
// With SatScopeA5 f32_bf16 and deqf16 saturate and drop NaN whatever the sat clause, and the other
// modes to f16 and bf16 do so unless it is nosat.
// A word that does not need a stage passes it unchanged: no_convert without relu copies bits.
// Throughput: one word per clock. Latency: 12 clocks. A stalled stage holds its word; empty stages
// before it still fill. Only a word that moves is evaluated.
// Limits: the mode code implies the destination type, except the sign of b8, which is bit 9 of the
// offset field in each lane's parameters. Illegal modes copy bits.
// Spec: fixpipe.md sections 3 to 7, profiles.md (alpha, sat_scope).
//
//   clk        _/~\_/~\_/~\_/~\_/~\_/~\_
//   in_valid   _/~~~\___________________     in_ready 1
//   out_valid  _________ .. ____/~~~\___     12 clocks later; stays until out_ready
`default_nettype none
`include "pto_desc.vh"
`include "pto_fix_to.vh"

module pto_fix_lanes #(
  parameter integer UserWidth    = 8,        // bits that accompany a word
  parameter integer AlphaReplace = 0,        // 1: below 0 alpha replaces the scale
  parameter integer SatScopeA5   = 0         // 1: the sat clause acts on fewer conversions
) (
  input  wire                 clk_i,          // clock
  input  wire                 rst_ni,         // asynchronous reset, active low
  input  wire                 in_valid_i,     // a word is there
  output wire                 in_ready_o,     // it is taken
  input  wire [511:0]         in_data_i,      // 16 accumulators, lane 0 low
  input  wire                 in_acc_i,       // they are i32, else f32
  input  wire [5:0]           in_quant_i,     // code of the quant mode
  input  wire [2:0]           in_relu_i,      // code of the relu
  input  wire                 in_clip_en_i,   // clip
  input  wire [15:0]          in_clip_i,      // limit: f16, or two's complement
  input  wire [1:0]           in_sat_i,       // 0 sat, 1 preserve_nan, 2 nosat
  input  wire [3:0]           in_dst_i,       // code of the destination type, not looked at
  input  wire [16*36-1:0]     in_quant_prm_i, // per lane {offset field[16:0], scale[31:13]}
  input  wire [16*19-1:0]     in_alpha_prm_i, // per lane alpha[31:13]
  input  wire [UserWidth-1:0] in_user_i,      // goes with the word
  output wire                 out_valid_o,    // a word of results is there
  input  wire                 out_ready_i,    // it is taken
  output wire [511:0]         out_data_o,     // result of lane l in the low bits of [32l +: 32]
  output wire [UserWidth-1:0] out_user_o      // what came with the word
);
  localparam integer Stages = 12;            // of pto_fix_lane

  localparam [1:0] SRC_BITS = 2'd0, SRC_H = 2'd1, SRC_I32 = 2'd2, SRC_HI = 2'd3;
  localparam [2:0] RELU_NONE = 3'd0, RELU_SCALAR = 3'd2, RELU_VECTOR = 3'd3, RELU_I32 = 3'd4;

  // Rows of the table of section 4: {source stage, scale, result}.
  function automatic [6:0] decoded;
    input [5:0] quant;
    case (quant)
      `PTO_QUANT_F32_F16: decoded = {SRC_BITS, 1'b0, `PTO_FIX_TO_F16};
      `PTO_QUANT_F32_BF16: decoded = {SRC_BITS, 1'b0, `PTO_FIX_TO_BF16};
      `PTO_QUANT_QF322HIF8_PRE_VEC, `PTO_QUANT_QF322HIF8_PRE_SCALAR:
        decoded = {SRC_BITS, 1'b1, `PTO_FIX_TO_HIF8};
      `PTO_QUANT_QF322HIF8_PRE_HYBRID_VEC, `PTO_QUANT_QF322HIF8_PRE_HYBRID_SCALAR:
        decoded = {SRC_BITS, 1'b1, `PTO_FIX_TO_HYBRID};
      `PTO_QUANT_QF322FP8_PRE_VEC, `PTO_QUANT_QF322FP8_PRE_SCALAR:
        decoded = {SRC_BITS, 1'b1, `PTO_FIX_TO_E4M3};
      `PTO_QUANT_QF322F32_PRE_VEC, `PTO_QUANT_QF322F32_PRE_SCALAR:
        decoded = {SRC_BITS, 1'b1, `PTO_FIX_TO_BITS};
      `PTO_QUANT_QF322F16_PRE_VEC, `PTO_QUANT_QF322F16_PRE_SCALAR:
        decoded = {SRC_BITS, 1'b1, `PTO_FIX_TO_F16};
      `PTO_QUANT_QF322BF16_PRE_VEC, `PTO_QUANT_QF322BF16_PRE_SCALAR:
        decoded = {SRC_BITS, 1'b1, `PTO_FIX_TO_BF16};
      `PTO_QUANT_QF322B8_PRE_VEC, `PTO_QUANT_QF322B8_PRE_SCALAR:
        decoded = {SRC_BITS, 1'b1, `PTO_FIX_TO_B8};
      `PTO_QUANT_QF322S4_PRE_VEC, `PTO_QUANT_QF322S4_PRE_SCALAR:
        decoded = {SRC_BITS, 1'b1, `PTO_FIX_TO_S4};
      `PTO_QUANT_QF162B8_PRE_VEC, `PTO_QUANT_QF162B8_PRE_SCALAR:
        decoded = {SRC_H, 1'b1, `PTO_FIX_TO_B8};
      `PTO_QUANT_QF162S4_PRE_VEC, `PTO_QUANT_QF162S4_PRE_SCALAR:
        decoded = {SRC_H, 1'b1, `PTO_FIX_TO_S4};
      `PTO_QUANT_DEQS32_INT_VEC, `PTO_QUANT_DEQS32_INT_SCALAR:
        decoded = {SRC_I32, 1'b1, `PTO_FIX_TO_S32};
      `PTO_QUANT_REQ8_VEC, `PTO_QUANT_REQ8_SCALAR: decoded = {SRC_I32, 1'b1, `PTO_FIX_TO_B8};
      `PTO_QUANT_REQ4_VEC, `PTO_QUANT_REQ4_SCALAR: decoded = {SRC_I32, 1'b1, `PTO_FIX_TO_S4};
      `PTO_QUANT_DEQF16_VEC, `PTO_QUANT_DEQF16_SCALAR: decoded = {SRC_I32, 1'b1, `PTO_FIX_TO_F16};
      `PTO_QUANT_DEQS16_VEC, `PTO_QUANT_DEQS16_SCALAR: decoded = {SRC_I32, 1'b1, `PTO_FIX_TO_S16};
      `PTO_QUANT_QF162S16_PRE_VEC, `PTO_QUANT_QF162S16_PRE_SCALAR:
        decoded = {SRC_HI, 1'b1, `PTO_FIX_TO_S16};
      `PTO_QUANT_QS322BF16_PRE_VEC, `PTO_QUANT_QS322BF16_PRE_SCALAR:
        decoded = {SRC_I32, 1'b1, `PTO_FIX_TO_BF16};
      default: decoded = {SRC_BITS, 1'b0, `PTO_FIX_TO_BITS};        // no_convert
    endcase
  endfunction

  wire [1:0] src;
  wire       scale;
  wire [3:0] to;
  assign {src, scale, to} = decoded(in_quant_i);

  wire replace = AlphaReplace == 1 && scale      // the product has the relu
              && (in_relu_i == RELU_SCALAR || in_relu_i == RELU_VECTOR);

  localparam [1:0] SAT = 2'd0, NOSAT = 2'd2; // of the sat clause
  wire fixed_sat = in_quant_i == `PTO_QUANT_F32_BF16 || in_quant_i == `PTO_QUANT_DEQF16_VEC
                || in_quant_i == `PTO_QUANT_DEQF16_SCALAR;
  wire out_of_scope = SatScopeA5 == 1 && (to == `PTO_FIX_TO_F16 || to == `PTO_FIX_TO_BF16)
                   && (fixed_sat || in_sat_i != NOSAT);

  wire [2:0] relu = in_acc_i && src == SRC_BITS && in_relu_i != RELU_NONE ? RELU_I32
                  : replace ? RELU_NONE : in_relu_i;

  // ---- handshakes: a stage takes when it is empty or its own word goes on ----
  reg  [Stages:1] valid_q;
  wire [Stages:1] ready;
  wire [Stages:1] offered = {valid_q[Stages-1:1], in_valid_i};
  wire [Stages:1] take    = offered & ready;   // a word moves into the stage

  assign in_ready_o  = ready[1];
  assign out_valid_o = valid_q[Stages];

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) valid_q <= {Stages{1'b0}};
    else valid_q <= (ready & offered) | (~ready & valid_q);
  end

  // ---- controls move with their word ----
  localparam integer Half = 0, Scale = 1, Relu = 2, To = 5, Int = 8, Sat = 9, ClipEn = 11,
                     Clip = 12, User = 28;   // their bits, Int is the highest of To
  localparam integer Width = User + UserWidth;

  reg [Stages*Width-1:0] ctl_q;
  wire [(Stages+1)*Width-1:0] ctl = {ctl_q, in_user_i, in_clip_i, in_clip_en_i,
                                     out_of_scope ? SAT : in_sat_i, to, relu, scale,
                                     src == SRC_H || src == SRC_HI};

  genvar s, l;
  generate
    for (s = 1; s <= Stages; s = s + 1) begin : gen_stage
      assign ready[s] = out_ready_i || !(&valid_q[Stages:s]);
      always @(posedge clk_i)
        if (take[s]) ctl_q[(s-1)*Width +: Width] <= ctl[(s-1)*Width +: Width];
    end

    for (l = 0; l < 16; l = l + 1) begin : gen_lane
      pto_fix_lane u_lane (
        .clk_i,
        .take_i        (take),
        .data_i        (in_data_i[32*l +: 32]),
        .quant_i       (in_quant_prm_i[36*l +: 36]),
        .alpha_i       (in_alpha_prm_i[19*l +: 19]),
        .s1_acc_i      (in_acc_i),
        .s1_i32_i      (src == SRC_I32 || src == SRC_HI),
        .s1_replace_i  (replace),
        .s2_half_i     (ctl[1*Width+Half]),
        .s3_scale_i    (ctl[2*Width+Scale]),
        .s6_relu_i     (ctl[5*Width+Relu +: 3]),
        .s9_to_i       (ctl[8*Width+To +: 4]),
        .s9_clip_en_i  (ctl[8*Width+ClipEn]),
        .s9_clip_i     (ctl[8*Width+Clip +: 16]),
        .s10_to_i      (ctl[9*Width+To +: 4]),
        .s10_sat_i     (ctl[9*Width+Sat +: 2]),
        .s11_to_i      (ctl[10*Width+To +: 4]),
        .s11_sat_i     (ctl[10*Width+Sat +: 2]),
        .s11_clip_en_i (ctl[10*Width+ClipEn]),
        .s11_clip_i    (ctl[10*Width+Clip +: 16]),
        .s12_int_i     (ctl[11*Width+Int]),
        .data_o        (out_data_o[32*l +: 32])
      );
    end
  endgenerate

  assign out_user_o = ctl[Stages*Width+User +: UserWidth];

  wire unused = &{1'b0, in_dst_i, ctl[Stages*Width +: User]};
endmodule

`default_nettype wire

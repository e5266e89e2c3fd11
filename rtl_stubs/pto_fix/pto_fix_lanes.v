// SPDX-License-Identifier: Apache-2.0
//
// Arithmetic of the write-back: 16 accumulators to 16 results, each word by its own quant mode,
// relu, clip and sat clause, so that words of different ops may follow each other. Stages: source
// stage, scale, relu, and clip with conversion (float) or round, offset, clip and clamp (integer).
// With AlphaReplace alpha takes the place of the scale for accumulators below 0: one product is the
// scale and the scalar_relu or vector_relu of a word. The relu stage has them in all other cases.
// With SatScopeA5 f32_bf16 and deqf16 saturate and drop NaN whatever the sat clause, and the other
// modes to f16 and bf16 do so unless it is nosat.
// A word that does not need a stage passes it unchanged: no_convert without relu copies bits.
// Throughput: one word per clock. Latency: 4 clocks. A stalled stage holds its word; empty stages
// before it still fill. Only a word that moves is evaluated.
// Limits: the mode code implies the destination type, except the sign of b8, which is bit 9 of the
// offset field in each lane's parameters. Illegal modes copy bits.
// Spec: fixpipe.md sections 3 to 7, profiles.md (alpha, sat_scope).
//
//   clk        _/~\_/~\_/~\_/~\_/~\_/~\_
//   in_valid   _/~~~\___________________     in_ready 1
//   out_valid  _________________/~~~\___     stays until out_ready
`default_nettype none

module pto_fix_lanes #(
  parameter integer UserWidth    = 8,        // bits that accompany a word
  parameter integer AlphaReplace = 0,        // 1: below 0 alpha replaces the scale
  parameter integer SatScopeA5   = 0         // 1: the sat clause acts on fewer conversions
) (
  input  wire                 clk_i,           // clock
  input  wire                 rst_ni,          // asynchronous reset, active low
  input  wire                 in_valid_i,      // a word is there
  output wire                 in_ready_o,      // it is taken
  input  wire [511:0]         in_data_i,       // 16 accumulators, lane 0 low
  input  wire                 in_acc_i,        // they are i32, else f32
  input  wire [5:0]           in_quant_i,      // code of the quant mode
  input  wire [2:0]           in_relu_i,       // code of the relu
  input  wire                 in_clip_en_i,    // clip
  input  wire [15:0]          in_clip_i,       // limit: f16, or two's complement
  input  wire [1:0]           in_sat_i,        // 0 sat, 1 preserve_nan, 2 nosat
  input  wire [3:0]           in_dst_i,        // code of the destination type, not looked at
  input  wire [16*36-1:0]     in_quant_prm_i,  // per lane {offset field[16:0], scale[31:13]}
  input  wire [16*19-1:0]     in_alpha_prm_i,  // per lane alpha[31:13]
  input  wire [UserWidth-1:0] in_user_i,       // goes with the word
  output wire                 out_valid_o,     // a word of results is there
  input  wire                 out_ready_i,     // it is taken
  output wire [511:0]         out_data_o,      // result of lane l in the low bits of [32l +: 32]
  output wire [UserWidth-1:0] out_user_o       // what came with the word
);
  `include "pto_fix_convert.vh"
  `include "pto_fix_arith.vh"

  // Stages that a word uses.
  localparam [1:0] SRC_BITS = 2'd0, SRC_H = 2'd1, SRC_I32 = 2'd2, SRC_HI = 2'd3;
  localparam [3:0] TO_BITS = 4'd0, TO_F16 = 4'd1, TO_BF16 = 4'd2, TO_E4M3 = 4'd3, TO_HIF8 = 4'd4,
                   TO_HYBRID = 4'd5, TO_B8 = 4'd6, TO_S4 = 4'd7, TO_S16 = 4'd8, TO_S32 = 4'd9;
  localparam [2:0] RELU_NONE = 3'd0, RELU_NORMAL = 3'd1, RELU_SCALAR = 3'd2, RELU_VECTOR = 3'd3,
                   RELU_I32 = 3'd4;

  // Rows of the table of section 4: {source stage, scale, result}.
  function automatic [6:0] decoded;
    input [5:0] quant;
    case (quant)
      6'd1:         decoded = {SRC_BITS, 1'b0, TO_F16};      // f32_f16
      6'd16:        decoded = {SRC_BITS, 1'b0, TO_BF16};     // f32_bf16
      6'd2, 6'd3:   decoded = {SRC_BITS, 1'b1, TO_HIF8};     // qf322hif8_pre
      6'd4, 6'd5:   decoded = {SRC_BITS, 1'b1, TO_HYBRID};   // qf322hif8_pre_hybrid
      6'd12, 6'd13: decoded = {SRC_BITS, 1'b1, TO_E4M3};     // qf322fp8_pre
      6'd14, 6'd15: decoded = {SRC_BITS, 1'b1, TO_BITS};     // qf322f32_pre
      6'd31, 6'd32: decoded = {SRC_BITS, 1'b1, TO_F16};      // qf322f16_pre
      6'd33, 6'd34: decoded = {SRC_BITS, 1'b1, TO_BF16};     // qf322bf16_pre
      6'd23, 6'd24: decoded = {SRC_BITS, 1'b1, TO_B8};       // qf322b8_pre
      6'd25, 6'd26: decoded = {SRC_BITS, 1'b1, TO_S4};       // qf322s4_pre
      6'd17, 6'd18: decoded = {SRC_H, 1'b1, TO_B8};          // qf162b8_pre
      6'd19, 6'd20: decoded = {SRC_H, 1'b1, TO_S4};          // qf162s4_pre
      6'd6, 6'd7:   decoded = {SRC_I32, 1'b1, TO_S32};       // deqs32_int
      6'd8, 6'd9:   decoded = {SRC_I32, 1'b1, TO_B8};        // req8
      6'd21, 6'd22: decoded = {SRC_I32, 1'b1, TO_S4};        // req4
      6'd10, 6'd11: decoded = {SRC_I32, 1'b1, TO_F16};       // deqf16
      6'd27, 6'd28: decoded = {SRC_I32, 1'b1, TO_S16};       // deqs16
      6'd29, 6'd30: decoded = {SRC_HI, 1'b1, TO_S16};        // qf162s16_pre
      6'd35, 6'd36: decoded = {SRC_I32, 1'b1, TO_BF16};      // qs322bf16_pre
      default:      decoded = {SRC_BITS, 1'b0, TO_BITS};     // no_convert
    endcase
  endfunction

  // ---- handshakes: a stage takes when it is empty or its own word goes on ----
  reg  valid1_q, valid2_q, valid3_q, valid4_q;
  wire ready4 = !valid4_q || out_ready_i;
  wire ready3 = !valid3_q || ready4;
  wire ready2 = !valid2_q || ready3;
  wire ready1 = !valid1_q || ready2;

  assign in_ready_o  = ready1;
  assign out_valid_o = valid4_q;

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid1_q <= 1'b0;
      valid2_q <= 1'b0;
      valid3_q <= 1'b0;
      valid4_q <= 1'b0;
    end else begin
      if (ready1) valid1_q <= in_valid_i;
      if (ready2) valid2_q <= valid1_q;
      if (ready3) valid3_q <= valid2_q;
      if (ready4) valid4_q <= valid3_q;
    end
  end

  // ---- controls of a word, in stage 1 to 3 ----
  wire [1:0] src;
  wire       scale;
  wire [3:0] to;
  assign {src, scale, to} = decoded(in_quant_i);

  reg                 scale1_q, clip_en1_q, clip_en2_q, clip_en3_q;
  reg [2:0]           relu1_q, relu2_q;
  reg [3:0]           to1_q, to2_q, to3_q;
  reg [1:0]           sat1_q, sat2_q, sat3_q;
  reg [15:0]          clip1_q, clip2_q, clip3_q;
  reg [UserWidth-1:0] user1_q, user2_q, user3_q, user4_q;

  wire replace = AlphaReplace == 1 && scale      // the product has the relu
              && (in_relu_i == RELU_SCALAR || in_relu_i == RELU_VECTOR);

  localparam [1:0] SAT = 2'd0, NOSAT = 2'd2; // of the sat clause
  wire fixed_sat = in_quant_i == 6'd16 || in_quant_i == 6'd10 || in_quant_i == 6'd11;
  wire out_of_scope = SatScopeA5 == 1 && (to == TO_F16 || to == TO_BF16)
                   && (fixed_sat || in_sat_i != NOSAT);

  wire take1 = in_valid_i && ready1;         // a word moves into the stage
  wire take2 = valid1_q && ready2;
  wire take3 = valid2_q && ready3;
  wire take4 = valid3_q && ready4;

  always @(posedge clk_i) begin
    if (take1) begin
      scale1_q   <= scale;
      relu1_q    <= in_acc_i && src == SRC_BITS && in_relu_i != RELU_NONE ? RELU_I32
                  : replace ? RELU_NONE : in_relu_i;
      to1_q      <= to;
      sat1_q     <= out_of_scope ? SAT : in_sat_i;
      clip_en1_q <= in_clip_en_i;
      clip1_q    <= in_clip_i;
      user1_q    <= in_user_i;
    end
    if (take2) begin
      relu2_q    <= relu1_q;
      to2_q      <= to1_q;
      sat2_q     <= sat1_q;
      clip_en2_q <= clip_en1_q;
      clip2_q    <= clip1_q;
      user2_q    <= user1_q;
    end
    if (take3) begin
      to3_q      <= to2_q;
      sat3_q     <= sat2_q;
      clip_en3_q <= clip_en2_q;
      clip3_q    <= clip2_q;
      user3_q    <= user2_q;
    end
    if (take4) user4_q <= user3_q;
  end

  assign out_user_o = user4_q;

  function automatic below_zero;             // of an accumulator; -0 and NaN are not
    input [31:0] x;
    input        acc;                        // it is i32, else f32
    below_zero = x[31] && (acc || (x[30:0] != 31'd0 && x[30:0] <= 31'h7F80_0000));
  endfunction

  function automatic [15:0] to_f16;          // with or without the clip
    input [31:0] t;
    input        clip_en;
    input [15:0] clip;
    input [1:0]  sat;
    to_f16 = fix_f32_to_f16(clip_en ? fix_clip_f16(t, clip) : t, sat);
  endfunction

  function automatic [2:0] int_kind;         // of an integer result, as in fix_narrow
    input [3:0] result;
    input       b8_signed;
    case (result)
      TO_S4:   int_kind = 3'd0;
      TO_B8:   int_kind = b8_signed ? 3'd2 : 3'd1;
      TO_S16:  int_kind = 3'd3;
      default: int_kind = 3'd4;
    endcase
  endfunction

  // ---- lanes, a few to a block: the loops in a block are short for synthesis ----
  localparam integer Group = 4;            // lanes of a block

  genvar g;
  generate
    for (g = 0; g < 16 / Group; g = g + 1) begin : gen_group
      wire [32*Group-1:0] data  = in_data_i[32*Group*g +: 32*Group];
      reg  [32*Group-1:0] data1_q, data2_q, data3_q, data4_q;
      reg  [36*Group-1:0] quant1_q;
      reg  [17*Group-1:0] shift2_q, shift3_q;             // per lane offset field
      reg  [Group-1:0]    inf2_q, inf3_q;                 // per lane: the source is infinite
      reg  [19*Group-1:0] alpha1_q, alpha2_q;
      reg  [Group-1:0]    swap1_q;                        // per lane: alpha for the scale
      integer             i1, i2, i3, i4;                 // lane

      always @(posedge clk_i) begin          // source stage, to f32
        if (take1) begin
          case (src)
            SRC_H: begin
              for (i1 = 0; i1 < Group; i1 = i1 + 1)
                data1_q[32*i1 +: 32] <= fix_f16_to_f32(fix_f32_to_h(data[32*i1 +: 32]));
            end
            SRC_I32: begin
              for (i1 = 0; i1 < Group; i1 = i1 + 1)
                data1_q[32*i1 +: 32] <= fix_i32_to_f32(data[32*i1 +: 32]);
            end
            SRC_HI: begin
              for (i1 = 0; i1 < Group; i1 = i1 + 1)
                data1_q[32*i1 +: 32] <= fix_f16_to_f32(fix_i32_to_h(data[32*i1 +: 32]));
            end
            default: data1_q <= data;
          endcase
          if (scale) quant1_q <= in_quant_prm_i[36*Group*g +: 36*Group];
          if (in_relu_i[2:1] != 2'd0) alpha1_q <= in_alpha_prm_i[19*Group*g +: 19*Group];
          for (i1 = 0; i1 < Group; i1 = i1 + 1)
            swap1_q[i1] <= replace && below_zero(data[32*i1 +: 32], in_acc_i);
        end
      end

      always @(posedge clk_i) begin          // scale
        if (take2) begin
          if (scale1_q) begin
            for (i2 = 0; i2 < Group; i2 = i2 + 1) begin
              data2_q[32*i2 +: 32] <= fix_f32_mul(data1_q[32*i2 +: 32],
                                                  {swap1_q[i2] ? alpha1_q[19*i2 +: 19]
                                                   : quant1_q[36*i2 +: 19], 13'd0});
              shift2_q[17*i2 +: 17] <= quant1_q[36*i2+19 +: 17];
              inf2_q[i2] <= data1_q[32*i2 +: 31] == 31'h7F80_0000;
            end
          end else begin
            data2_q <= data1_q;
          end
          if (relu1_q == RELU_SCALAR || relu1_q == RELU_VECTOR) alpha2_q <= alpha1_q;
        end
      end

      always @(posedge clk_i) begin          // relu
        if (take3) begin
          case (relu2_q)
            RELU_NORMAL: begin
              for (i3 = 0; i3 < Group; i3 = i3 + 1)
                data3_q[32*i3 +: 32] <= fix_relu(data2_q[32*i3 +: 32], RELU_NORMAL, 32'd0);
            end
            RELU_SCALAR, RELU_VECTOR: begin
              for (i3 = 0; i3 < Group; i3 = i3 + 1)
                data3_q[32*i3 +: 32] <= fix_relu(data2_q[32*i3 +: 32], RELU_VECTOR,
                                                 {alpha2_q[19*i3 +: 19], 13'd0});
            end
            RELU_I32: begin
              for (i3 = 0; i3 < Group; i3 = i3 + 1)
                data3_q[32*i3 +: 32] <= fix_relu_i32(data2_q[32*i3 +: 32]);
            end
            default: data3_q <= data2_q;
          endcase
          if (to2_q >= TO_B8) begin
            shift3_q <= shift2_q;
            inf3_q   <= inf2_q;
          end
        end
      end

      always @(posedge clk_i) begin          // results
        if (take4) begin
          case (to3_q)
            TO_F16: begin
              for (i4 = 0; i4 < Group; i4 = i4 + 1)
                data4_q[32*i4 +: 32] <= {16'd0, to_f16(data3_q[32*i4 +: 32], clip_en3_q, clip3_q,
                                                       sat3_q)};
            end
            TO_BF16: begin
              for (i4 = 0; i4 < Group; i4 = i4 + 1)
                data4_q[32*i4 +: 32] <= {16'd0, fix_f32_to_bf16(data3_q[32*i4 +: 32], sat3_q)};
            end
            TO_E4M3: begin
              for (i4 = 0; i4 < Group; i4 = i4 + 1)
                data4_q[32*i4 +: 32] <= {24'd0, fix_f32_to_e4m3(data3_q[32*i4 +: 32], sat3_q)};
            end
            TO_HIF8, TO_HYBRID: begin
              for (i4 = 0; i4 < Group; i4 = i4 + 1)
                data4_q[32*i4 +: 32] <= {24'd0, fix_f32_to_hif8(data3_q[32*i4 +: 32], sat3_q,
                                                                to3_q == TO_HYBRID)};
            end
            TO_B8, TO_S4, TO_S16, TO_S32: begin
              for (i4 = 0; i4 < Group; i4 = i4 + 1)
                data4_q[32*i4 +: 32] <= fix_to_int(data3_q[32*i4 +: 32], inf3_q[i4],
                                                   shift3_q[17*i4 +: 17], clip_en3_q, clip3_q,
                                                   int_kind(to3_q, shift3_q[17*i4+9]));
            end
            default: data4_q <= data3_q;
          endcase
        end
      end

      assign out_data_o[32*Group*g +: 32*Group] = data4_q;
    end
  endgenerate

  wire unused = &{1'b0, in_dst_i};
endmodule

`default_nettype wire

// SPDX-License-Identifier: Apache-2.0
//
// Arithmetic of one accumulator in 12 stages: 1 and 2 source stage, 3 to 5 scale, 6 to 8 relu; of
// floats 9 clip, 10 conversion (hif8 11); of integers 9 rounding, 10 stage S5, S9, S17 or WIDE,
// 11 offset and clip, 12 clamp. A stage that a word does not need passes it. Data only:
// pto_fix_lanes has the handshakes, and the controls of the word that moves into a stage (s<n>_*).
// Throughput: one word per clock. Latency: 12 clocks. Limits: those of pto_fix_lanes.
// Spec: fixpipe.md sections 3 to 7, profiles.md (alpha).
//
//   clk        _/~\_/~\_/~\_    _/~\_/~\_
//   take_i[1]  _/~~~\_______    _________     with data_i, quant_i, alpha_i
//   take_i[2]  _____/~~~\___ .. _________
//   take_i[12] _____________    _/~~~\___
//   data_o     _____________    _____/~~~     held until the next word moves into stage 12
`default_nettype none
`include "pto_fix_to.vh"

module pto_fix_lane (
  input  wire        clk_i,         // clock
  input  wire [12:1] take_i,        // per stage: a word moves into it
  input  wire [31:0] data_i,        // accumulator
  input  wire [35:0] quant_i,       // {offset field[16:0], scale[31:13]}
  input  wire [18:0] alpha_i,       // alpha[31:13]
  input  wire        s1_acc_i,      // the accumulator is i32, else f32
  input  wire        s1_i32_i,      // i32 to f32
  input  wire        s1_replace_i,  // below 0 alpha is the scale
  input  wire        s2_half_i,     // round to f16
  input  wire        s3_scale_i,    // scale
  input  wire [2:0]  s6_relu_i,     // code of the relu, 4: of an i32 that is not converted
  input  wire [3:0]  s9_to_i,       // result, PTO_FIX_TO_*
  input  wire        s9_clip_en_i,  // clip
  input  wire [15:0] s9_clip_i,     // limit, f16
  input  wire [3:0]  s10_to_i,      // result
  input  wire [1:0]  s10_sat_i,     // 0 sat, 1 preserve_nan, 2 nosat
  input  wire [3:0]  s11_to_i,      // result
  input  wire [1:0]  s11_sat_i,     // as s10_sat_i
  input  wire        s11_clip_en_i, // clip
  input  wire [15:0] s11_clip_i,    // limit, two's complement
  input  wire        s12_int_i,     // the result is an integer
  output wire [31:0] data_o         // result in the low bits
);
  `include "pto_fix_convert.vh"
  `include "pto_fix_arith.vh"

  function automatic below_zero;             // of an accumulator; -0 and NaN are not
    input [31:0] x;
    input        acc;                        // it is i32, else f32
    below_zero = x[31] && (acc || (x[30:0] != 31'd0 && x[30:0] <= 31'h7F80_0000));
  endfunction

  reg  [31:0] data1_q, data2_q, data12_q;
  reg  [34:0] data9_q, data10_q, data11_q;   // float or bits in 32 bits, or integer
  wire [31:0] data5, data8;
  reg         swap1_q;                       // alpha is the scale
  reg  [35:0] quant1_q;
  reg  [18:0] factor2_q;                     // of the scale
  reg  [18:0] alpha1_q, alpha2_q, alpha3_q, alpha4_q, alpha5_q;
  reg  [17:0] field3_q, field4_q, field5_q, field6_q, field7_q, field8_q;  // {source inf, offset}
  reg  [16:0] offset2_q, offset9_q, offset10_q;
  reg  [2:0]  kind9_q, kind10_q, kind11_q;   // of an integer, as in fix_clamp

  // ---- source stage ----
  always @(posedge clk_i) begin
    if (take_i[1]) begin
      if (s1_i32_i) data1_q <= fix_i32_to_f32(data_i);
      else          data1_q <= data_i;
      swap1_q  <= s1_replace_i && below_zero(data_i, s1_acc_i);
      quant1_q <= quant_i;
      alpha1_q <= alpha_i;
    end
    if (take_i[2]) begin
      if (s2_half_i) data2_q <= fix_f16_to_f32(fix_f32_to_h(data1_q));
      else           data2_q <= data1_q;
      factor2_q <= swap1_q ? alpha1_q : quant1_q[18:0];
      offset2_q <= quant1_q[35:19];
      alpha2_q  <= alpha1_q;
    end
  end

  // ---- scale and relu ----
  pto_fix_mul u_scale (
    .clk_i,
    .take_i (take_i[5:3]),
    .mul_i  (s3_scale_i),
    .a_i    (data2_q),
    .b_i    ({factor2_q, 13'd0}),
    .pass_i (data2_q),
    .y_o    (data5)
  );

  pto_fix_mul u_relu (
    .clk_i,
    .take_i (take_i[8:6]),
    .mul_i  (fix_relu_scales(data5, s6_relu_i[1])),
    .a_i    (data5),
    .b_i    ({alpha5_q, 13'd0}),
    .pass_i (s6_relu_i[2] ? fix_relu_i32(data5) : fix_relu(data5, s6_relu_i)),
    .y_o    (data8)
  );

  always @(posedge clk_i) begin
    if (take_i[3]) begin
      alpha3_q <= alpha2_q;
      field3_q <= {data2_q[30:0] == 31'h7F80_0000, offset2_q};
    end
    if (take_i[4]) {alpha4_q, field4_q} <= {alpha3_q, field3_q};
    if (take_i[5]) {alpha5_q, field5_q} <= {alpha4_q, field4_q};
    if (take_i[6]) field6_q <= field5_q;
    if (take_i[7]) field7_q <= field6_q;
    if (take_i[8]) field8_q <= field7_q;
  end

  // ---- results ----
  wire [2:0] kind = s9_to_i == `PTO_FIX_TO_B8 && field8_q[9] ? 3'd2 : s9_to_i[2:0];

  always @(posedge clk_i) begin
    if (take_i[9]) begin
      if (s9_to_i[3]) data9_q <= fix_round_wide(data8);
      else if (s9_to_i == `PTO_FIX_TO_F16 && s9_clip_en_i)
        data9_q <= {3'd0, fix_clip_f16(data8, s9_clip_i)};
      else data9_q <= {3'd0, data8};
      offset9_q <= fix_offset(data8[30:0], field8_q[17], field8_q[16:0], kind);
      kind9_q   <= kind;
    end
    if (take_i[10]) begin
      case (s10_to_i)
        `PTO_FIX_TO_F16:  data10_q <= {19'd0, fix_f32_to_f16(data9_q[31:0], s10_sat_i)};
        `PTO_FIX_TO_BF16: data10_q <= {19'd0, fix_f32_to_bf16(data9_q[31:0], s10_sat_i)};
        `PTO_FIX_TO_E4M3: data10_q <= {27'd0, fix_f32_to_e4m3(data9_q[31:0], s10_sat_i)};
        default:
          if (s10_to_i[3]) data10_q <= fix_stage(data9_q, kind9_q);
          else             data10_q <= data9_q;
      endcase
      offset10_q <= offset9_q;
      kind10_q   <= kind9_q;
    end
    if (take_i[11]) begin
      if (s11_to_i[3])
        data11_q <= fix_clip_int(data10_q, offset10_q, s11_clip_en_i, s11_clip_i);
      else if (s11_to_i == `PTO_FIX_TO_HIF8 || s11_to_i == `PTO_FIX_TO_HYBRID)
        data11_q <= {27'd0, fix_f32_to_hif8(data10_q[31:0], s11_sat_i, s11_to_i[0])};
      else data11_q <= data10_q;
      kind11_q <= kind10_q;
    end
    if (take_i[12]) begin
      if (s12_int_i) data12_q <= fix_clamp(data11_q, kind11_q);
      else           data12_q <= data11_q[31:0];
    end
  end

  assign data_o = data12_q;
endmodule

`default_nettype wire

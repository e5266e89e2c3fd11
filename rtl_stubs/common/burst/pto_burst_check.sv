// SPDX-License-Identifier: Apache-2.0
//
// Checks one descriptor of the burst family against its D rules and the zero-count test, lowest
// rule number first: mte_ub_ub and mte_ub_l1 DMA-L05 (widths), L06 (alignment), L12 (extents);
// mte_l1_bt BT-L02, L03, L04; mte_l1_fb FB-L02, L03, L04, the segment of which is tested for a NOP,
// too. Extents are exact and sums never wrap (A-18); a gap after the last burst never counts. An op
// without gaps on either side leaves as one row of its whole extent, which is the same bytes.
// Throughput: one descriptor per clock, two clocks when there are more than 256 bursts, which
// then take longer to move. Latency: 2 clocks more (pto_extent). Limits: widen 3 of mte_l1_bt is
// unused and counts as raw. Spec: dma.md 1, 2, 5; bias_fb.md 1, 5.
//
//   clk         _/~\_/~\_/~\_/~\_/~\_/~\_
//   desc_valid  _/~~~~~~~\_______________     300 bursts: taken in the second clock
//   desc_ready  _____/~~~\_______________
//   job_valid   _________________/~~~\___     verdict and job, stay until job_ready
//   busy        _________/~~~~~~~~~~~\___
`default_nettype none
`include "pto_records.vh"

module pto_burst_check #(
  parameter [255:0] Ops       = 256'h60,     // bit k: opcode k is served, out of 5, 6, 8 and 9
  parameter integer UbSize    = `PTO_SIZE_UB,  // bytes of one UB sub-block
  parameter integer L1Size    = `PTO_SIZE_L1,  // bytes of L1
  parameter integer TagWidth  = 8            // bits of a tag
) (
  input  wire                      clk_i,         // clock
  input  wire                      rst_ni,        // asynchronous reset, active low
  input  wire                      desc_valid_i,  // a descriptor is there
  output wire                      desc_ready_o,  // it is taken
  input  wire [`PTO_DESC_BITS-1:0] desc_i,        // the descriptor
  input  wire [TagWidth-1:0]       desc_tag_i,    // its tag
  output wire                      busy_o,        // an op was taken and has not left
  output wire                      job_valid_o,   // a judged op is there
  input  wire                      job_ready_i,   // it is taken
  output wire [TagWidth-1:0]       job_tag_o,     // tag of the op
  output wire pto_verdict_t        job_verdict_o, // the verdict
  output wire pto_dma_job_t        job_o          // a row for each burst, those of a legal op
);
  localparam integer SumWidth = 34;          // 65535 * 131070 + 65535 < 2^34 units
  localparam integer EndWidth = SumWidth + 7;  // byte address + units of 64 bytes

  // ---- fields ----
  wire [7:0]  opcode  = desc_i[`PTO_DESC_OPCODE];
  wire [16:0] len     = desc_i[`PTO_BURST_LEN];
  wire [16:0] n_burst = desc_i[`PTO_BURST_N_BURST];
  wire [23:0] src     = desc_i[`PTO_BURST_SRC_ADDR];
  wire [23:0] dst     = desc_i[`PTO_BURST_DST_ADDR];
  wire [16:0] src_gap = desc_i[`PTO_BURST_SRC_GAP];
  wire [16:0] dst_gap = desc_i[`PTO_BURST_DST_GAP];

  wire known  = Ops[opcode];
  wire is_l1  = Ops[`PTO_OP_MTE_UB_L1] && opcode == `PTO_OP_MTE_UB_L1;   // into L1
  wire is_bt  = Ops[`PTO_OP_MTE_L1_BT] && opcode == `PTO_OP_MTE_L1_BT;
  wire is_fb  = Ops[`PTO_OP_MTE_L1_FB] && opcode == `PTO_OP_MTE_L1_FB;
  wire by_l1  = is_bt || is_fb;              // rules of bias_fb.md, else of dma.md

  // ---- rules but the extents ----
  wire nop   = len == 17'd0 || n_burst == 17'd0;
  wire wide  = len[16] || n_burst[16] || src_gap[16] || dst_gap[16]
            || (by_l1 && |n_burst[15:12]);   // DMA-L05; BT-L02, FB-L02: count of 12 bits
  wire misaligned = |src[4:0] || |dst[4:0] || (by_l1 && dst[5]);   // DMA-L06; BT-L03, FB-L03

  reg       bad;
  reg [3:0] rule;
  always @* begin
    bad  = 1'b1;
    rule = 4'd0;
    if (!known) rule = 4'd0;
    else if (wide) rule = by_l1 ? 4'd2 : 4'd5;
    else if (misaligned) rule = by_l1 ? 4'd3 : 4'd6;
    else bad = 1'b0;
  end

  // ---- the room from each first byte to the end of its memory, negative behind it ----
  wire [31:0] src_size = by_l1 ? L1Size[31:0] : UbSize[31:0];
  wire [31:0] dst_size = is_bt ? `PTO_SIZE_BT : is_fb ? `PTO_FB_SEGMENT_BYTES
                       : is_l1 ? L1Size[31:0] : UbSize[31:0];
  // A destination in FB is a segment and an offset in it; the extent ends in the same segment.
  wire [7:0]  segment  = is_fb ? dst[`PTO_FB_SEGMENT_SHIFT +: 8] : 8'd0;
  wire [23:0] dst_from = is_fb ? {8'd0, dst[15:0]} : dst;
  wire [24:0] src_room = src_size[24:0] - {1'b0, src};
  wire [24:0] dst_room = dst_size[24:0] - {1'b0, dst_from};
  wire        no_segment = segment != `PTO_FB_PRE_QUANT && segment != `PTO_FB_PRE_RELU;

  // ---- extents in units: len + (n_burst - 1) * (len + gap) ----
  wire [15:0] last      = n_burst[15:0] - 16'd1;
  wire [16:0] src_pitch = {1'b0, len[15:0]} + {1'b0, src_gap[15:0]};
  wire [16:0] dst_pitch = {1'b0, len[15:0]} + {1'b0, dst_gap[15:0]};

  wire                room, last_digit;
  wire [SumWidth-1:0] src_ext, dst_ext;

  // Both sums are lanes of one: the digits are the same, and no lane carries into the next.
  pto_extent #(
    .Strides     (1),
    .PerStride   (2),
    .StrideWidth (SumWidth + 17),
    .BaseWidth   (SumWidth + 16),
    .TailWidth   (1),
    .SumWidth    (2 * SumWidth)
  ) u_extent (
    .clk_i, .rst_ni,
    .in_valid_i   (desc_valid_i && room),
    .in_last_o    (last_digit),
    .in_skip_i    (nop),
    .in_base_i    ({len[15:0], {(SumWidth - 16){1'b0}}, len[15:0]}),
    .in_tail_i    (1'b0),
    .in_digits_i  (last),
    .in_strides_i ({dst_pitch, {(SumWidth - 17){1'b0}}, src_pitch}),
    .out_valid_o  (job_valid_o),
    .out_ready_i  (job_ready_i),
    .out_sum_o    ({dst_ext, src_ext})
  );

  assign desc_ready_o = last_digit && room;

  // ---- the op waits for its extents ----
  wire        is_bad, is_nop, to_l1, to_bt, to_fb, hole, sub, gaps;
  wire [24:0] src_left, dst_left;
  wire [3:0]  first_rule;
  wire [1:0]  widen;
  wire [23:0] src_addr, dst_addr;
  wire [15:0] one_len, to_last;
  wire [16:0] src_step, dst_step;

  pto_fifo #(
    .Width(TagWidth + 178),
    .Depth(4)
  ) u_jobs (
    .clk_i, .rst_ni,
    .wr_valid_i (desc_valid_i && desc_ready_o),
    .wr_ready_o (room),
    .wr_data_i  ({desc_tag_i, bad, rule, nop, is_l1, is_bt, is_fb, no_segment, src_room, dst_room,
                  desc_i[`PTO_BURST_UB_SUB], desc_i[`PTO_BURST_WIDEN], src, dst,
                  |src_gap || |dst_gap, len[15:0], last, src_pitch, dst_pitch}),
    .rd_valid_o (busy_o),
    .rd_ready_i (job_valid_o && job_ready_i),
    .rd_data_o  ({job_tag_o, is_bad, first_rule, is_nop, to_l1, to_bt, to_fb, hole, src_left,
                  dst_left, sub, widen, src_addr, dst_addr, gaps, one_len, to_last, src_step,
                  dst_step})
  );

  // ---- DMA-L12, BT-L04, FB-L04 last: the highest numbers, and a NOP accesses no byte ----
  wire half = to_bt && (widen == 2'd1 || widen == 2'd2);         // source elements of two bytes

  function [EndWidth-1:0] bytes;             // of a number of units
    input [SumWidth-1:0] units;
    input                by_64;
    input                by_4;
    input                by_2;
    bytes = by_64 ? {1'b0, units, 6'd0} : by_2 ? {6'd0, units, 1'd0}
          : by_4 ? {5'd0, units, 2'd0} : {2'd0, units, 5'd0};
  endfunction

  wire [EndWidth-1:0] src_bytes = bytes(src_ext, to_fb, to_bt, half);
  wire [EndWidth-1:0] dst_bytes = bytes(dst_ext, to_fb, to_bt, 1'b0);
  wire out = src_left[24] || src_bytes > {17'd0, src_left[23:0]}
          || dst_left[24] || dst_bytes > {17'd0, dst_left[23:0]};
  wire bad_out = !is_bad && (hole || (!is_nop && out));

  wire [7:0] is_rule = is_bad ? {4'd0, first_rule}
                     : !bad_out ? 8'd0 : (to_bt || to_fb) ? 8'd4 : 8'd12;
  assign job_verdict_o = {is_bad || is_nop || bad_out, is_bad || bad_out, is_rule};

  // ---- rows: the bursts, or one of the whole extent if there are no gaps ----
  wire [2:0] ub        = sub ? `PTO_SPACE_UB1 : `PTO_SPACE_UB0;
  wire [2:0] src_space = (to_bt || to_fb) ? `PTO_SPACE_L1 : ub;
  wire [2:0] dst_space = to_bt ? `PTO_SPACE_BT : to_fb ? `PTO_SPACE_FB
                       : to_l1 ? `PTO_SPACE_L1 : ub;
  wire [EndWidth-1:0] one_bytes = bytes({{(SumWidth - 16){1'b0}}, one_len}, to_fb, to_bt, 1'b0);
  wire [EndWidth-1:0] src_pace  = bytes({{(SumWidth - 17){1'b0}}, src_step}, to_fb, to_bt, half);
  wire [EndWidth-1:0] dst_pace  = bytes({{(SumWidth - 17){1'b0}}, dst_step}, to_fb, to_bt, 1'b0);
  wire [19:0]         row_len   = gaps ? one_bytes[19:0] : dst_bytes[19:0];
  wire pto_row_t      row       = {6'd0, half ? widen : 2'd0, src_space, {16'd0, src_addr}, 6'd0,
                                   dst_space, dst_addr[19:0], row_len, 6'd0, {1'b0, row_len},
                                   35'd0};
  assign job_o = {row, 5'd0, {63'd0, 5'd0, gaps ? to_last : 16'd0},
                  {120'd0, 20'd0, src_pace[19:0]}, {60'd0, dst_pace[19:0]}};

  // Bits above the last field of the family are reserved.
  localparam integer UsedBits = `PTO_BURST_DST_GAP_LSB + `PTO_BURST_DST_GAP_CW;
  wire unused = &{1'b0, desc_i[`PTO_DESC_BITS-1:UsedBits], src_size[31:25], dst_size[31:25],
                  dst_addr[23:20], one_bytes[EndWidth-1:20], src_pace[EndWidth-1:20],
                  dst_pace[EndWidth-1:20]};
endmodule

`default_nettype wire

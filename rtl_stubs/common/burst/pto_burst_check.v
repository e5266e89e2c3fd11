// SPDX-License-Identifier: Apache-2.0
//
// Checks one descriptor of the burst family against its D rules and the zero-count test, lowest
// rule number first: mte_ub_ub and mte_ub_l1 DMA-L05 (widths), L06 (alignment), L12 (extents);
// mte_l1_bt BT-L02, L03, L04; mte_l1_fb FB-L02, L03, L04, the segment of which is tested for a NOP,
// too. Extents are exact and sums never wrap (A-18); a gap after the last burst never counts. An op
// without gaps on either side leaves as one burst of its whole extent, which is the same bytes.
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
`include "pto_desc.vh"

module pto_burst_check #(
  parameter [255:0] Ops       = 256'h60,     // bit k: opcode k is served, out of 5, 6, 8 and 9
  parameter integer UbSize    = `PTO_SIZE_UB,  // bytes of one UB sub-block
  parameter integer L1Size    = `PTO_SIZE_L1,  // bytes of L1
  parameter integer DescWidth = 512,         // bits of a descriptor
  parameter integer TagWidth  = 8            // bits of a tag
) (
  input  wire                 clk_i,          // clock
  input  wire                 rst_ni,         // asynchronous reset, active low
  input  wire                 desc_valid_i,   // a descriptor is there
  output wire                 desc_ready_o,   // it is taken
  input  wire [DescWidth-1:0] desc_i,         // the descriptor, stable until taken
  input  wire [TagWidth-1:0]  desc_tag_i,     // its tag
  output wire                 busy_o,         // an op was taken and has not left
  output wire                 job_valid_o,    // a judged op is there
  input  wire                 job_ready_i,    // it is taken
  output wire [TagWidth-1:0]  job_tag_o,      // tag of the op
  output wire                 job_idle_o,     // no bursts: bad op or NOP
  output wire                 job_bad_o,      // a rule is violated, or opcode not served
  output wire [7:0]           job_rule_o,     // number of that rule, 0: opcode not served
  output wire                 job_by_64_o,    // unit is 64 bytes (mte_l1_fb), not 32
  output wire [1:0]           job_widen_o,    // mte_l1_bt: 0 raw, 1 bf16, 2 f16
  output wire [2:0]           job_src_space_o, // source memory
  output wire [2:0]           job_dst_space_o, // destination memory
  output wire [23:0]          job_src_addr_o, // source byte address
  output wire [23:0]          job_dst_addr_o, // destination byte address
  output wire [15:0]          job_len_o,      // units of a burst, at least 1
  output wire [15:0]          job_last_o,     // bursts less 1
  output wire [15:0]          job_src_gap_o,  // source units between bursts
  output wire [15:0]          job_dst_gap_o   // destination units between bursts
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
    .clk_i        (clk_i),
    .rst_ni       (rst_ni),
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
  wire        is_bad, is_nop, to_l1, to_bt, to_fb, hole, sub;
  wire [24:0] src_left, dst_left;
  wire [3:0]  first_rule;
  wire [15:0] one_len, one_last;             // of the bursts as they are

  pto_fifo #(
    .Width(TagWidth + 175),
    .Depth(4)
  ) u_jobs (
    .clk_i      (clk_i),
    .rst_ni     (rst_ni),
    .wr_valid_i (desc_valid_i && desc_ready_o),
    .wr_ready_o (room),
    .wr_data_i  ({desc_tag_i, bad, rule, nop, is_l1, is_bt, is_fb, no_segment, src_room, dst_room,
                  desc_i[`PTO_BURST_UB_SUB], desc_i[`PTO_BURST_WIDEN], src, dst,
                  len[15:0], last, src_gap[15:0], dst_gap[15:0]}),
    .rd_valid_o (busy_o),
    .rd_ready_i (job_valid_o && job_ready_i),
    .rd_data_o  ({job_tag_o, is_bad, first_rule, is_nop, to_l1, to_bt, to_fb, hole, src_left, dst_left,
                  sub, job_widen_o, job_src_addr_o, job_dst_addr_o,
                  one_len, one_last, job_src_gap_o, job_dst_gap_o})
  );

  // ---- DMA-L12, BT-L04, FB-L04 last: the highest numbers, and a NOP accesses no byte ----
  wire half = job_widen_o == 2'd1 || job_widen_o == 2'd2;        // source elements of two bytes
  wire [EndWidth-1:0] src_bytes = to_fb ? {1'b0, src_ext, 6'd0}
                                : !to_bt ? {2'd0, src_ext, 5'd0}
                                : half ? {6'd0, src_ext, 1'd0} : {5'd0, src_ext, 2'd0};
  wire [EndWidth-1:0] dst_bytes = to_fb ? {1'b0, dst_ext, 6'd0}
                                : to_bt ? {5'd0, dst_ext, 2'd0} : {2'd0, dst_ext, 5'd0};
  wire out = src_left[24] || src_bytes > {17'd0, src_left[23:0]}
          || dst_left[24] || dst_bytes > {17'd0, dst_left[23:0]};
  wire bad_out = !is_bad && (hole || (!is_nop && out));

  // One burst of the whole extent if there are no gaps.
  wire merge = job_src_gap_o == 16'd0 && job_dst_gap_o == 16'd0;
  wire [2:0] ub = sub ? `PTO_SPACE_UB1 : `PTO_SPACE_UB0;

  assign job_bad_o       = is_bad || bad_out;
  assign job_idle_o      = is_bad || is_nop || bad_out;
  assign job_rule_o      = is_bad ? {4'd0, first_rule}
                         : !bad_out ? 8'd0 : (to_bt || to_fb) ? 8'd4 : 8'd12;
  assign job_by_64_o     = to_fb;
  assign job_src_space_o = (to_bt || to_fb) ? `PTO_SPACE_L1 : ub;
  assign job_dst_space_o = to_bt ? `PTO_SPACE_BT : to_fb ? `PTO_SPACE_FB
                         : to_l1 ? `PTO_SPACE_L1 : ub;
  assign job_len_o       = merge ? src_ext[15:0] : one_len;
  assign job_last_o      = merge ? 16'd0 : one_last;

  // Bits above the last field of the family are reserved.
  localparam integer UsedBits = `PTO_BURST_DST_GAP_LSB + `PTO_BURST_DST_GAP_CW;
  wire unused = &{1'b0, desc_i[DescWidth-1:UsedBits], src_size[31:25],
                  dst_size[31:25]};
endmodule

`default_nettype wire

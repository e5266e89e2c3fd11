// SPDX-License-Identifier: Apache-2.0
//
// Checks one descriptor of the burst family against its D rules and the zero-count test, lowest
// rule number first: mte_ub_ub and mte_ub_l1 DMA-L05 (widths), L06 (alignment), L12 (extents);
// mte_l1_bt BT-L02, L03, L04; mte_l1_fb FB-L02, L03, L04, the segment of which is tested for a NOP,
// too. Extents are exact and sums never wrap (A-18); a gap after the last burst never counts. An op
// without gaps on either side leaves as one burst of its whole extent, which is the same bytes.
// Throughput: one descriptor per clock, two clocks when there are more than 256 bursts, which
// then take longer to move. Latency: 1 clock more. Limits: widen 3 of mte_l1_bt is unused and
// counts as raw. Spec: dma.md 1, 2, 5; bias_fb.md 1, 5.
//
//   clk         _/~\_/~\_/~\_/~\_
//   desc_valid  _/~~~~~~~\_______     300 bursts: summed in two clocks, taken in the second
//   desc_ready  _____/~~~\_______
//   job_valid   _________/~~~\___     verdict and job, stay until job_ready
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
  output wire                 desc_ready_o,   // it is taken; its check ends this clock
  input  wire [DescWidth-1:0] desc_i,         // the descriptor, stable until taken
  input  wire [TagWidth-1:0]  desc_tag_i,     // its tag
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

  // ---- extents in units: len + (n_burst - 1) * (len + gap), one byte of n_burst per clock ----
  wire [15:0] last      = n_burst[15:0] - 16'd1;
  wire [16:0] src_pitch = {1'b0, len[15:0]} + {1'b0, src_gap[15:0]};
  wire [16:0] dst_pitch = {1'b0, len[15:0]} + {1'b0, dst_gap[15:0]};

  reg                second_q;               // the low byte has been summed
  reg [SumWidth-1:0] src_sum_q;
  reg [SumWidth-1:0] dst_sum_q;

  wire        done  = nop || bad || second_q || last[15:8] == 8'd0;
  wire [7:0]  digit = second_q ? last[15:8] : last[7:0];
  wire [24:0] src_prod = {17'd0, digit} * {8'd0, src_pitch};
  wire [24:0] dst_prod = {17'd0, digit} * {8'd0, dst_pitch};
  wire [SumWidth-1:0] src_sum = second_q ? src_sum_q + {1'b0, src_prod, 8'd0}
                              : {18'd0, len[15:0]} + {9'd0, src_prod};
  wire [SumWidth-1:0] dst_sum = second_q ? dst_sum_q + {1'b0, dst_prod, 8'd0}
                              : {18'd0, len[15:0]} + {9'd0, dst_prod};

  // ---- the checked op ----
  reg                job_valid_q;
  reg [SumWidth-1:0] src_ext_q;
  reg [SumWidth-1:0] dst_ext_q;
  reg [TagWidth-1:0] tag_q;
  reg                bad_q;
  reg [3:0]          rule_q;
  reg                nop_q;
  reg                is_l1_q;
  reg                is_bt_q;
  reg                is_fb_q;
  reg                sub_q;
  reg [1:0]          widen_q;
  reg [23:0]         src_q;
  reg [23:0]         dst_q;
  reg [15:0]         len_q;
  reg [15:0]         last_q;
  reg [15:0]         src_gap_q;
  reg [15:0]         dst_gap_q;

  wire job_free = !job_valid_q || job_ready_i;
  wire load     = desc_valid_i && done && job_free;
  assign desc_ready_o = done && job_free;

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      second_q    <= 1'b0;
      job_valid_q <= 1'b0;
    end else begin
      if (load) second_q <= 1'b0;
      else if (desc_valid_i && !done) second_q <= 1'b1;
      if (job_free) job_valid_q <= load;
    end
  end

  always @(posedge clk_i) begin
    if (desc_valid_i && !done) begin
      src_sum_q <= src_sum;
      dst_sum_q <= dst_sum;
    end
    if (load) begin
      src_ext_q <= src_sum;
      dst_ext_q <= dst_sum;
      tag_q     <= desc_tag_i;
      bad_q     <= bad;
      rule_q    <= rule;
      nop_q     <= nop;
      is_l1_q   <= is_l1;
      is_bt_q   <= is_bt;
      is_fb_q   <= is_fb;
      sub_q     <= desc_i[`PTO_BURST_UB_SUB];
      widen_q   <= desc_i[`PTO_BURST_WIDEN];
      src_q     <= src;
      dst_q     <= dst;
      len_q     <= len[15:0];
      last_q    <= last;
      src_gap_q <= src_gap[15:0];
      dst_gap_q <= dst_gap[15:0];
    end
  end

  // ---- DMA-L12, BT-L04, FB-L04 last: the highest numbers, and a NOP accesses no byte ----
  wire half = widen_q == 2'd1 || widen_q == 2'd2;        // source elements of two bytes
  wire [EndWidth-1:0] src_bytes = is_fb_q ? {1'b0, src_ext_q, 6'd0}
                                : !is_bt_q ? {2'd0, src_ext_q, 5'd0}
                                : half ? {6'd0, src_ext_q, 1'd0} : {5'd0, src_ext_q, 2'd0};
  wire [EndWidth-1:0] dst_bytes = is_fb_q ? {1'b0, dst_ext_q, 6'd0}
                                : is_bt_q ? {5'd0, dst_ext_q, 2'd0} : {2'd0, dst_ext_q, 5'd0};
  wire [31:0] src_size = (is_bt_q || is_fb_q) ? L1Size[31:0] : UbSize[31:0];
  wire [31:0] dst_size = is_bt_q ? `PTO_SIZE_BT : is_fb_q ? `PTO_FB_SEGMENT_BYTES
                       : is_l1_q ? L1Size[31:0] : UbSize[31:0];
  // A destination in FB is a segment and an offset in it; the extent ends in the same segment.
  wire [7:0]  segment  = is_fb_q ? dst_q[`PTO_FB_SEGMENT_SHIFT +: 8] : 8'd0;
  wire [23:0] dst_from = is_fb_q ? {8'd0, dst_q[15:0]} : dst_q;
  wire hole = segment != `PTO_FB_PRE_QUANT && segment != `PTO_FB_PRE_RELU;
  wire out = ({17'd0, src_q} + src_bytes > {9'd0, src_size})
          || ({17'd0, dst_from} + dst_bytes > {9'd0, dst_size});
  wire bad_out = !bad_q && (hole || (!nop_q && out));

  // One burst of the whole extent if there are no gaps.
  wire merge = src_gap_q == 16'd0 && dst_gap_q == 16'd0;
  wire [2:0] ub = sub_q ? `PTO_SPACE_UB1 : `PTO_SPACE_UB0;

  assign job_valid_o     = job_valid_q;
  assign job_tag_o       = tag_q;
  assign job_bad_o       = bad_q || bad_out;
  assign job_idle_o      = bad_q || nop_q || bad_out;
  assign job_rule_o      = bad_q ? {4'd0, rule_q}
                         : !bad_out ? 8'd0 : (is_bt_q || is_fb_q) ? 8'd4 : 8'd12;
  assign job_by_64_o     = is_fb_q;
  assign job_widen_o     = widen_q;
  assign job_src_space_o = (is_bt_q || is_fb_q) ? `PTO_SPACE_L1 : ub;
  assign job_dst_space_o = is_bt_q ? `PTO_SPACE_BT : is_fb_q ? `PTO_SPACE_FB
                         : is_l1_q ? `PTO_SPACE_L1 : ub;
  assign job_src_addr_o  = src_q;
  assign job_dst_addr_o  = dst_q;
  assign job_len_o       = merge ? src_ext_q[15:0] : len_q;
  assign job_last_o      = merge ? 16'd0 : last_q;
  assign job_src_gap_o   = src_gap_q;
  assign job_dst_gap_o   = dst_gap_q;

  // Bits above the last field of the family are reserved.
  localparam integer UsedBits = `PTO_BURST_DST_GAP_LSB + `PTO_BURST_DST_GAP_CW;
  wire unused = &{1'b0, desc_i[DescWidth-1:UsedBits]};
endmodule

`default_nettype wire

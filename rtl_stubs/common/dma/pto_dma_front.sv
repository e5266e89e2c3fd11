// SPDX-License-Identifier: Apache-2.0
//
// Front of the units that move rows: descriptor queue, D-rule check, loops, and the report of
// finished ops. It serves the strided ops of pto_dma_check and those of pto_burst_check, of which
// ext is the source and loc the destination; it has the checks that Ops needs, and keeps their ops
// in order. The check of the next ops overlaps the rows of earlier ones, so rows of consecutive
// ops follow each other without a bubble.
// Throughput: one row per clock. Latency: first row five clocks after the descriptor handshake
// when the check needs one clock (see the checks). Spec: CONTRACT, dma.md 1 to 5, 9; bias_fb.md.
`default_nettype none
`include "pto_records.vh"

module pto_dma_front #(
  parameter [255:0] Ops            = 256'h2, // bit k: opcode k is served
  parameter integer LenBits        = 16,     // DMA-L05: 2^LenBits - 1 ends lengths and row counts
  parameter integer PadEndBlock    = 0,      // 1: pads end with a 32-byte block, not the stride
  parameter integer TailFill       = 0,      // 1: rows without pad fill their last 32-byte block
  parameter integer RowRepeatLegal = 0,      // 1: no DMA-L08 for the GM stride of a load
  parameter integer CompactLegal   = 0,      // 1: no DMA-L07 for rows without a gap
  parameter integer PadUnselectedRegister = 0,  // 1: legacy pad counts alone select padding
  parameter integer LegacyPadElements = 0,   // 1: legacy pad counts are elements
  parameter integer UbSize         = `PTO_SIZE_UB,  // bytes of one UB sub-block (DMA-L12)
  parameter integer L1Size         = `PTO_SIZE_L1,  // bytes of L1 (DMA-L12, RF-L04)
  parameter integer TagWidth       = 8,      // bits of a tag
  parameter integer QueueDepth     = 4       // descriptors queued before the check
) (
  `include "pto_front_ports.vh"
  output wire           row_valid_o, // a row is there
  input  wire           row_ready_i, // it is taken
  output wire pto_row_t row_o        // the row
);
  localparam [255:0] BURST_OPS = `PTO_BURST_OPS;
  localparam HasBurst   = |(Ops & BURST_OPS);
  localparam HasStrided = |(Ops & ~BURST_OPS);

  wire                      head_valid, head_ready, job_valid, job_ready, start_valid, start_ready;
  wire [`PTO_DESC_BITS-1:0] head;
  wire [TagWidth-1:0]       head_tag;
  wire [3:0]                start_id;

  // ---- checks: 0 strided, 1 bursts. The order of their ops is kept here ----
  wire [1:0]               is_ready, is_busy, is_valid; // per check
  wire [1:0][TagWidth-1:0] is_tag;
  wire pto_verdict_t       verdict_0, verdict_1;
  wire pto_dma_job_t       job_0, job_1;
  wire                     order_ready, order_valid, first;
  wire                     check = HasBurst && (!HasStrided || BURST_OPS[head[`PTO_DESC_OPCODE]]);

  assign head_ready = order_ready && is_ready[check];
  assign job_valid  = order_valid && is_valid[first];

  generate
    if (HasStrided && HasBurst) begin : gen_order
      pto_fifo #(
        .Width(1),
        .Depth(16)
      ) u_order (
        .clk_i, .rst_ni,
        .wr_valid_i (head_valid && head_ready),
        .wr_ready_o (order_ready),
        .wr_data_i  (check),
        .rd_valid_o (order_valid),
        .rd_ready_i (job_valid && job_ready),
        .rd_data_o  (first)
      );
    end else begin : gen_one
      assign {order_ready, order_valid, first} = {1'b1, 1'b1, HasBurst};
    end
    if (HasStrided) begin : gen_strided
      pto_dma_check #(
        .Ops            (Ops),
        .LenBits        (LenBits),
        .PadEndBlock    (PadEndBlock),
        .TailFill       (TailFill),
        .RowRepeatLegal (RowRepeatLegal),
        .CompactLegal   (CompactLegal),
        .PadUnselectedRegister (PadUnselectedRegister),
        .LegacyPadElements     (LegacyPadElements),
        .UbSize         (UbSize),
        .L1Size         (L1Size),
        .TagWidth       (TagWidth)
      ) u_check (
        .clk_i, .rst_ni,
        .desc_valid_i  (head_valid && order_ready && !check),
        .desc_ready_o  (is_ready[0]),
        .desc_i        (head),
        .desc_tag_i    (head_tag),
        .busy_o        (is_busy[0]),
        .job_valid_o   (is_valid[0]),
        .job_ready_i   (job_ready && order_valid && !first),
        .job_tag_o     (is_tag[0]),
        .job_verdict_o (verdict_0),
        .job_o         (job_0)
      );
    end else begin : gen_no_strided
      assign {is_ready[0], is_busy[0], is_valid[0], is_tag[0], verdict_0, job_0} = '0;
    end
    if (HasBurst) begin : gen_burst
      pto_burst_check #(
        .Ops      (Ops),
        .UbSize   (UbSize),
        .L1Size   (L1Size),
        .TagWidth (TagWidth)
      ) u_check (
        .clk_i, .rst_ni,
        .desc_valid_i  (head_valid && order_ready && check),
        .desc_ready_o  (is_ready[1]),
        .desc_i        (head),
        .desc_tag_i    (head_tag),
        .busy_o        (is_busy[1]),
        .job_valid_o   (is_valid[1]),
        .job_ready_i   (job_ready && order_valid && first),
        .job_tag_o     (is_tag[1]),
        .job_verdict_o (verdict_1),
        .job_o         (job_1)
      );
    end else begin : gen_no_burst
      assign {is_ready[1], is_busy[1], is_valid[1], is_tag[1], verdict_1, job_1} = '0;
    end
  endgenerate

  wire pto_verdict_t verdict = first ? verdict_1 : verdict_0;
  wire pto_dma_job_t job     = first ? job_1 : job_0;

  // ---- a checked op takes a number; with rows it also takes the loop walker ----
  pto_front #(
    .TagWidth   (TagWidth),
    .QueueDepth (QueueDepth)
  ) u_ops (
    .clk_i, .rst_ni, .desc_valid_i, .desc_ready_o, .desc_i, .desc_tag_i, .busy_o,
    .done_valid_o, .done_ready_i, .done_tag_o, .done_status_o, .done_rule_o, .done_addr_o,
    .err_a_i, .err_b_i, .err_c_i, .err_o, .err_now_o, .fin_valid_i, .fin_id_i,
    .head_valid_o  (head_valid),
    .head_ready_i  (head_ready),
    .head_o        (head),
    .head_tag_o    (head_tag),
    .job_valid_i   (job_valid),
    .job_ready_o   (job_ready),
    .job_verdict_i (verdict),
    .job_tag_i     (is_tag[first]),
    .check_busy_i  (|is_busy),
    .start_valid_o (start_valid),
    .start_ready_i (start_ready),
    .start_id_o    (start_id)
  );

  pto_dma_loops u_loops (
    .clk_i, .rst_ni, .row_valid_o, .row_ready_i, .row_o,
    .job_valid_i (start_valid),
    .job_ready_o (start_ready),
    .job_id_i    (start_id),
    .job_i       (job),
    .err_i       (err_o)
  );
endmodule

`default_nettype wire

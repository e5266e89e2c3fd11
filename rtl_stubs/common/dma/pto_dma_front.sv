// SPDX-License-Identifier: Apache-2.0
//
// Front of the units that move rows: descriptor queue, D-rule check, loops, and the report of
// finished ops. The check of the next ops overlaps the rows of earlier ones, so rows of consecutive
// ops follow each other without a bubble.
// Throughput: one row per clock. Latency: first row five clocks after the descriptor handshake
// when the check needs one clock (pto_dma_check). Spec: CONTRACT, dma.md 1 to 5, 9; bias_fb.md.
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
  wire                      head_valid, head_ready, check_busy, job_valid, job_ready, start_valid;
  wire                      start_ready;
  wire [`PTO_DESC_BITS-1:0] head;
  wire [TagWidth-1:0]       head_tag, job_tag;
  wire [3:0]                start_id;
  wire pto_verdict_t        verdict;
  wire pto_dma_job_t        job;

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
    `include "pto_check_pins.vh"
    .job_o         (job)
  );

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
    .job_tag_i     (job_tag),
    .check_busy_i  (check_busy),
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

// SPDX-License-Identifier: Apache-2.0
//
// Front of the units that move rows: descriptor queue, D-rule check, loops, and the report of
// finished ops. The check of the next ops overlaps the rows of earlier ones, so rows of consecutive
// ops follow each other without a bubble.
// Throughput: one row per clock. Latency: first row five clocks after the descriptor handshake
// when the check needs one clock (pto_dma_check).
// Spec: docs/contract.md, dma.md 1 to 5, 9; bias_fb.md.
`default_nettype none
`include "pto_records.vh"

module pto_dma_front #(
  parameter [255:0] Ops            = 256'h2, // bit k: opcode k is served
  `include "pto_dma_knobs.vh"
  parameter integer UbSize         = `PTO_SIZE_UB,  // bytes of one UB sub-block (DMA-L12)
  parameter integer L1Size         = `PTO_SIZE_L1,  // bytes of L1 (DMA-L12, RF-L04)
  parameter integer TagWidth       = 8,      // bits of a tag
  parameter integer QueueDepth     = 4,      // descriptors queued before the check
  parameter integer Errors         = 2,      // ports of errors
  parameter integer Ends           = 1       // ports of ends
) (
  `include "pto_front_ports.vh"
  output wire           row_valid_o, // a row is there
  input  wire           row_ready_i, // it is taken
  output wire pto_row_t row_o        // the row
);
  `include "pto_front_wires.vh"
  wire pto_dma_job_t job;

  pto_dma_check #(
    .Ops            (Ops),
    `include "pto_dma_pass_knobs.vh"
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
    .QueueDepth (QueueDepth),
    .Errors     (Errors),
    .Ends       (Ends)
  ) u_ops (
    `include "pto_front_pins.vh"
    .done_valid_o, .done_ready_i, .err_i, .err_o, .err_now_o, .fin_valid_i, .fin_id_i
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

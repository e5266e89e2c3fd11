// SPDX-License-Identifier: Apache-2.0
//
// Unit for copies between on-chip memories; Ops selects those it takes:
//   mte_l1_ub             rows of 32-byte blocks in up to three loops of byte strides (A-12)
//   mte_ub_ub, mte_ub_l1  bursts of 32-byte blocks with gaps
//   mte_l1_fb             bursts of 64 bytes
//   mte_l1_bt             bias elements to 32-bit slots of BT, f16 and bf16 widened to f32
// Ports are those of an engine. Rows flow checks -> loops -> local reads -> realigner -> words; the
// check of the next op overlaps the data. A row begins at any byte, a burst of mte_l1_bt at any
// element and any slot.
// Throughput: one source word and one destination word per clock; a 16-bit source word gives two
// words of BT. A row or burst that lies in k source and n destination words takes max(k, n)
// clocks and the next follows without a bubble, also from op to op: 32-byte bursts on 512-bit ports
// at one burst, half a word, per clock. Bursts without gaps run as one.
// Latency: descriptor to src_req 7 clocks when the check needs one clock (pto_dma_check), reply to
// dst_req 3 clocks, 4 of widened elements, last grant to done 1 clock. Full rate up to a read
// latency of ReadFifoDepth - 3 clocks. A read or write error ends the op: no access is requested
// from that clock on, but a pending request waits for its grant.
// Limits: widths 128, 256 or 512; GmAddrWidth 40.
// Spec: docs/contract.md, dma.md 2 and 5, bias_fb.md.
//
//   clk         _/~\_/~\_/~\_/~\_/~\_/~\_/~\_/~\_
//   desc_valid  _/~~~\___________________________     desc_ready 1
//   src_req     _____________________________/~~~     until src_gnt
`default_nettype none
`include "pto_records.vh"

`define PTO_SRC_DATA_WIDTH SrcDataWidth
module pto_local_copy #(
  `include "pto_unit_widths.vh"
  parameter integer SrcDataWidth   = LocalDataWidth,  // bits of a source word
  parameter integer ReadFifoDepth  = 64,     // source words and rows in flight, a power of two
  parameter [255:0] Ops            = 256'd1 << `PTO_OP_MTE_L1_UB  // bit k: opcode k is taken
) (
  `include "pto_engine_ports.vh"
);
`undef PTO_SRC_DATA_WIDTH
  `include "pto_check_widths.vh"
  `include "pto_no_gm.vh"

  wire                       row_valid, row_ready, fin_valid;
  wire [3:0]                 fin_id;
  wire [`PTO_NUM_ACTIVE-1:0] err_unused, err;
  wire pto_err_t             rd_err, wr_err;
  wire pto_row_t             row;

  pto_dma_front #(
    .Ops        (Ops),
    .UbSize     (UbSize),
    .L1Size     (L1Size),
    .TagWidth   (TagWidth),
    .QueueDepth (QueueDepth)
  ) u_front (
    .clk_i, .rst_ni, .desc_valid_i, .desc_ready_o, .desc_i, .desc_tag_i, .busy_o,
    .done_valid_o, .done_ready_i, .done_tag_o, .done_status_o, .done_rule_o, .done_addr_o,
    .err_i         ({wr_err, rd_err}),
    .err_o         (err_unused),
    .err_now_o     (err),
    .fin_valid_i   (fin_valid),
    .fin_id_i      (fin_id),
    .row_valid_o   (row_valid),
    .row_ready_i   (row_ready),
    .row_o         (row)
  );

  // An error takes effect in its own clock, so that no access is requested after it.
  pto_copy_path #(
    .SrcDataWidth  (SrcDataWidth),
    .DstDataWidth  (LocalDataWidth),
    .ReadFifoDepth (ReadFifoDepth),
    .Widen         (Ops[`PTO_OP_MTE_L1_BT] ? 1 : 0)
  ) u_path (
    .clk_i, .rst_ni,
    .src_req_o, .src_gnt_i, .src_space_o, .src_addr_o, .src_rvalid_i, .src_rdata_i, .src_err_i,
    .dst_req_o, .dst_gnt_i, .dst_space_o, .dst_addr_o, .dst_be_o, .dst_wdata_o, .dst_err_i,
    .err_i       (err),
    .row_valid_i (row_valid),
    .row_ready_o (row_ready),
    .row_i       (row),
    .rd_err_o    (rd_err),
    .wr_err_o    (wr_err),
    .fin_valid_o (fin_valid),
    .fin_id_o    (fin_id)
  );

  wire unused = &{1'b0, err_unused};
endmodule

`default_nettype wire

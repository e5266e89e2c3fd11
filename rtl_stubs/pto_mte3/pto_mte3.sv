// SPDX-License-Identifier: Apache-2.0
//
// DMA pipe MTE3, out of UB. Unit pto_gm_store serves mte_ub_gm, rows to GM, stored or added to what
// GM holds; unit pto_local_copy mte_ub_ub and mte_ub_l1, bursts of 32-byte blocks. One queue of
// descriptors; the buses belong to one unit at a time (pto_unit_switch).
// Throughput: that of the units; ops of one unit follow each other without a bubble. Latency: that
// of the units, nothing is added; a change of unit drains the pipe: last done taken to first access
// of the other unit, one clock more than from an idle pipe. An unknown opcode is done with rule 0.
// LenBits and CompactLegal select the profile (profiles.md) of mte_ub_gm, by default seed.
// Limits: GmDataWidth, LocalDataWidth 128, 256 or 512; GmAddrWidth 40.
// Spec: docs/contract.md, dma.md.
//
//   clk         _/~\_/~\_/~\_/~\_/~\_/~\_
//   desc_valid  _/~~~\___________________     mte_ub_gm, desc_ready 1
//   src_req     _____________________/~~~     until src_gnt
`default_nettype none
`include "pto_records.vh"

module pto_mte3 #(
  parameter integer GmAddrWidth    = 40,     // bits of a GM byte address
  parameter integer GmDataWidth    = 256,    // bits of the AXI data bus
  parameter integer LocalAddrWidth = 20,     // bits of an on-chip byte address
  parameter integer LocalDataWidth = 256,    // bits of an on-chip word
  parameter integer DescWidth      = 512,    // bits of a descriptor
  parameter integer TagWidth       = 8,      // bits of a tag
  parameter integer NumOutstanding = 16,     // AXI bursts in flight
  parameter integer AxiIdWidth     = 4,      // bits of the AXI ids, which are 0
  parameter integer UbSize         = `PTO_SIZE_UB,  // bytes of one UB sub-block
  parameter integer L1Size         = `PTO_SIZE_L1,  // bytes of L1
  parameter integer LenBits        = 16,     // knob len_bits: 16, 21
  parameter integer CompactLegal   = 0,      // knob compact: 0 error, 1 legal
  parameter integer QueueDepth     = 2       // descriptors queued here, and again in each unit
) (
  `include "pto_engine_ports.vh"
);
  localparam [255:0] UnitOneOps = (256'd1 << `PTO_OP_MTE_UB_UB) | (256'd1 << `PTO_OP_MTE_UB_L1);

  `include "pto_unit_pair.vh"

  `define PTO_UNIT 0
  pto_gm_store #(
    .LenBits        (LenBits),
    .CompactLegal   (CompactLegal),
    `include "pto_pass_widths.vh"
  ) u_gm_store (
    `include "pto_unit_pins.vh"
  );
  `undef PTO_UNIT

  `define PTO_UNIT 1
  pto_local_copy #(
    .Ops            (UnitOneOps),
    `include "pto_pass_widths.vh"
  ) u_local_copy (
    `include "pto_unit_pins.vh"
  );
  `undef PTO_UNIT
endmodule

`default_nettype wire

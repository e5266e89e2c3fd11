// SPDX-License-Identifier: Apache-2.0
//
// DMA pipe MTE1, out of L1. Unit pto_local_copy serves mte_l1_ub and mte_l1_bt, rows of bytes to UB
// and bias elements to BT; unit pto_l0_load serves mte_l1_l0a, mte_l1_l0b, mte_l1_l0a_mx and
// mte_l1_l0b_mx, fractals and scales to the memories of the matrix unit. One
// queue of descriptors; the ports belong to one unit at a time (pto_unit_switch).
// Throughput: that of the units; ops of one unit follow each other without a bubble. Latency: that
// of the units, nothing is added; a change of unit drains the pipe: last done taken to first access
// of the other unit, one clock more than from an idle pipe. An unknown opcode is done with rule 0.
// Limits: LocalDataWidth 128, 256 or 512; GmAddrWidth 40; GM is not accessed.
// Spec: docs/contract.md, dma.md, bias_fb.md, l0_loads.md.
//
//   clk         _/~\_/~\_/~\_/~\_/~\_/~\_
//   desc_valid  _/~~~\___________________     mte_l1_l0a, desc_ready 1
//   src_req     _____________________/~~~     until src_gnt
`default_nettype none
`include "pto_records.vh"

module pto_mte1 #(
  parameter integer GmAddrWidth    = 40,     // bits of a GM byte address, here only of reports
  parameter integer GmDataWidth    = 256,    // bits of the AXI data bus, not used
  parameter integer LocalAddrWidth = 20,     // bits of an on-chip byte address
  parameter integer LocalDataWidth = 256,    // bits of an on-chip word
  parameter integer DescWidth      = 512,    // bits of a descriptor
  parameter integer TagWidth       = 8,      // bits of a tag
  parameter integer NumOutstanding = 16,     // AXI bursts in flight, not used
  parameter integer AxiIdWidth     = 4,      // bits of the AXI ids
  parameter integer UbSize         = `PTO_SIZE_UB,  // bytes of one UB sub-block
  parameter integer L1Size         = `PTO_SIZE_L1,  // bytes of L1
  parameter integer QueueDepth     = 4,      // descriptors queued before the check, a power of two
  parameter integer ReadFifoDepth  = 64      // source words and rows in flight, a power of two
) (
  `include "pto_engine_ports.vh"
);
  localparam [255:0] UnitOneOps = (256'd1 << `PTO_OP_MTE_L1_L0A) | (256'd1 << `PTO_OP_MTE_L1_L0B)
                                | (256'd1 << `PTO_OP_MTE_L1_L0A_MX)
                                | (256'd1 << `PTO_OP_MTE_L1_L0B_MX);

  `include "pto_unit_pair.vh"

  `define PTO_UNIT 0
  pto_local_copy #(
    .Ops            ((256'd1 << `PTO_OP_MTE_L1_UB) | (256'd1 << `PTO_OP_MTE_L1_BT)),
    .ReadFifoDepth  (ReadFifoDepth),
    `include "pto_pass_widths.vh"
  ) u_local_copy (
    `include "pto_unit_pins.vh"
  );
  `undef PTO_UNIT

  `define PTO_UNIT 1
  pto_l0_load #(
    .ReadFifoDepth  (ReadFifoDepth),
    `include "pto_pass_widths.vh"
  ) u_l0_load (
    `include "pto_unit_pins.vh"
  );
  `undef PTO_UNIT
endmodule

`default_nettype wire

// SPDX-License-Identifier: Apache-2.0
//
// Pair of units of MTE1 that move rows of bytes: pto_local_copy serves mte_l1_ub, strided rows of
// 32-byte blocks to UB; pto_bias_load serves mte_l1_bt, bias elements to BT. Ports are those of an
// engine; they belong to one unit at a time (pto_unit_switch).
// Throughput, latency: those of the units, see pto_mte1. An unknown opcode is done with rule 0.
// Limits: LocalDataWidth 128, 256 or 512; GmAddrWidth 40; GM is not accessed.
// Spec: CONTRACT, dma.md, bias_fb.md.
//
//   clk         _/~\_/~\_/~\_/~\_/~\_/~\_
//   desc_valid  _/~~~\___________________     mte_l1_bt, desc_ready 1
//   src_req     _____________________/~~~     until src_gnt
`default_nettype none
`include "pto_desc.vh"

module pto_copy_bias #(
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
  parameter integer NumActive      = 16,     // ops in flight after the check, a power of two
  parameter integer ReadFifoDepth  = 64      // source words and rows in flight, a power of two
) (
  `include "pto_engine_ports.vh"
);
  localparam [255:0] UnitOneOps = 256'd1 << `PTO_OP_MTE_L1_BT;

  `include "pto_unit_pair.vh"

  `define PTO_UNIT 0
  pto_local_copy #(
    .GmAddrWidth    (GmAddrWidth),
    .GmDataWidth    (GmDataWidth),
    .LocalAddrWidth (LocalAddrWidth),
    .LocalDataWidth (LocalDataWidth),
    .DescWidth      (DescWidth),
    .TagWidth       (TagWidth),
    .NumOutstanding (NumOutstanding),
    .AxiIdWidth     (AxiIdWidth),
    .UbSize         (UbSize),
    .L1Size         (L1Size),
    .QueueDepth     (QueueDepth),
    .NumActive      (NumActive),
    .ReadFifoDepth  (ReadFifoDepth)
  ) u_local_copy (
    `include "pto_unit_pins.vh"
  );
  `undef PTO_UNIT

  `define PTO_UNIT 1
  pto_bias_load #(
    .GmAddrWidth    (GmAddrWidth),
    .GmDataWidth    (GmDataWidth),
    .LocalAddrWidth (LocalAddrWidth),
    .LocalDataWidth (LocalDataWidth),
    .DescWidth      (DescWidth),
    .TagWidth       (TagWidth),
    .NumOutstanding (NumOutstanding),
    .AxiIdWidth     (AxiIdWidth),
    .UbSize         (UbSize),
    .L1Size         (L1Size),
    .QueueDepth     (QueueDepth),
    .NumActive      (NumActive),
    .ReadFifoDepth  (ReadFifoDepth)
  ) u_bias_load (
    `include "pto_unit_pins.vh"
  );
  `undef PTO_UNIT
endmodule

`default_nettype wire

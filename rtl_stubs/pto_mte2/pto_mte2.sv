// SPDX-License-Identifier: Apache-2.0
//
// DMA pipe MTE2, from GM to on-chip memory. Unit pto_gm_load serves mte_gm_ub and mte_gm_l1, rows
// of bytes, and raw_fill_l1, rows of a pattern; unit pto_nz_load serves mte_gm_l1_frac, the
// repacking to NZ. One queue of descriptors; the buses belong to one unit at a time
// (pto_unit_switch).
// Throughput: that of the units; ops of one unit follow each other without a bubble, in any order.
// Latency: that of the units, nothing is added; a change of unit drains the pipe: last done taken
// to first arvalid of the other unit, one clock more than from an idle pipe. An unknown opcode is
// done with rule 0. LenBits to LegacyPadElements select the profile (profiles.md) of mte_gm_ub and
// mte_gm_l1, by default seed. Limits: GmDataWidth, LocalDataWidth 128, 256 or 512; GmAddrWidth 40;
// the src side and the AXI write channels are 0. Spec: docs/contract.md, dma.md, nd2nz.md.
//
//   clk         _/~\_/~\_/~\_/~\_/~\_/~\_
//   desc_valid  _/~~~\___________________     mte_gm_ub, desc_ready 1
//   arvalid     _____________________/~~~     until arready
`default_nettype none
`include "pto_records.vh"

module pto_mte2 #(
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
  parameter integer PadEndBlock    = 0,      // knob pad_end: 0 stride, 1 block
  parameter integer TailFill       = 0,      // knob tail: 0 keep, 1 fill
  parameter integer RowRepeatLegal = 0,      // knob row_repeat: 0 error, 1 legal
  parameter integer CompactLegal   = 0,      // knob compact: 0 error, 1 legal
  parameter integer PadUnselectedRegister = 0,  // knob pad_unselected: 0 error, 1 register
  parameter integer LegacyPadElements = 0,   // knob legacy_pad_unit: 0 bytes, 1 elements
  parameter integer QueueDepth     = 2       // descriptors queued here, and again in each unit
) (
  `include "pto_engine_ports.vh"
);
  localparam [255:0] UnitOneOps = 256'd1 << `PTO_OP_MTE_GM_L1_FRAC;

  `include "pto_unit_pair.vh"

  `define PTO_UNIT 0
  pto_gm_load #(
    `include "pto_dma_pass_knobs.vh"
    `include "pto_pass_widths.vh"
  ) u_gm_load (
    `include "pto_unit_pins.vh"
  );
  `undef PTO_UNIT

  `define PTO_UNIT 1
  pto_nz_load #(
    `include "pto_pass_widths.vh"
  ) u_nz_load (
    `include "pto_unit_pins.vh"
  );
  `undef PTO_UNIT
endmodule

`default_nettype wire

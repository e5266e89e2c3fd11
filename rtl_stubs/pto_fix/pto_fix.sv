// SPDX-License-Identifier: Apache-2.0
//
// Pipe FIX. Unit pto_local_copy serves mte_l1_fb, rows of parameters from L1 to FB; unit
// pto_write_back serves mte_l0c_gm, mte_l0c_l1 and mte_l0c_ub, accumulators from L0C through the
// arithmetic to GM, L1 and UB. One queue of descriptors; the buses belong to one unit at a time
// (pto_unit_switch). The ports for parameters and unit flags are those of the write-back alone.
// Throughput: that of the units; ops of one unit follow each other without a bubble. Latency: that
// of the units, nothing is added; a change of unit drains the pipe: last done taken to first access
// of the other unit, one clock more than from an idle pipe. An unknown opcode is done with rule 0.
// Limits: GmDataWidth, LocalDataWidth 128, 256 or 512; SrcDataWidth 512, the width of an L0C word
// and of a parameter word; GmAddrWidth 40.
// Spec: docs/contract.md, fixpipe.md, bias_fb.md 3, profiles.md.
//
//   clk         _/~\_/~\_/~\_/~\_/~\_/~\_
//   desc_valid  _/~~~\___________________     mte_l1_fb, desc_ready 1
//   src_req     _____________________/~~~     until src_gnt
`default_nettype none
`include "pto_records.vh"

`define PTO_SRC_DATA_WIDTH SrcDataWidth
module pto_fix #(
  parameter integer GmAddrWidth    = 40,     // bits of a GM byte address
  parameter integer GmDataWidth    = 256,    // bits of the AXI data bus
  parameter integer LocalAddrWidth = 20,     // bits of an on-chip byte address
  parameter integer LocalDataWidth = 256,    // bits of a destination word
  parameter integer SrcDataWidth   = 512,    // bits of a source word and of a parameter word
  parameter integer DescWidth      = 512,    // bits of a descriptor
  parameter integer TagWidth       = 8,      // bits of a tag
  parameter integer NumOutstanding = 16,     // AXI bursts in flight in each direction
  parameter integer AxiIdWidth     = 4,      // bits of the AXI ids, which are 0
  parameter integer UbSize         = `PTO_SIZE_UB,  // bytes of one UB sub-block
  parameter integer L1Size         = `PTO_SIZE_L1,  // bytes of L1
  parameter integer QueueDepth     = 2,      // descriptors queued here, and again in each unit
  parameter integer ReadFifoDepth  = 64,     // mte_l1_fb: source words and rows in flight
  parameter integer AlphaReplace   = 0,      // knob alpha: 0 sequential, 1 replace
  parameter integer B8ScalarUnsigned = 0,    // knob b8_scalar_sign: 0 type, 1 unsigned
  parameter integer SatScopeA5     = 0,      // knob sat_scope: 0 all, 1 a5
  parameter integer ModesA5        = 0       // knob modes, FIX-L20: 0 all, 1 a5
) (
  `include "pto_fix_ports.vh"
  `include "pto_engine_ports.vh"
);
`undef PTO_SRC_DATA_WIDTH
  localparam [255:0] UnitOneOps = (256'd1 << `PTO_OP_MTE_L0C_GM) | (256'd1 << `PTO_OP_MTE_L0C_L1)
                                | (256'd1 << `PTO_OP_MTE_L0C_UB);

  `include "pto_unit_pair.vh"

  `define PTO_UNIT 0
  pto_local_copy #(
    .Ops            (256'd1 << `PTO_OP_MTE_L1_FB),
    .SrcDataWidth   (SrcDataWidth),
    .ReadFifoDepth  (ReadFifoDepth),
    `include "pto_pass_widths.vh"
  ) u_local_copy (
    `include "pto_unit_pins.vh"
  );
  `undef PTO_UNIT

  `define PTO_UNIT 1
  pto_write_back #(
    .SrcDataWidth   (SrcDataWidth),
    .AlphaReplace   (AlphaReplace),
    .B8ScalarUnsigned (B8ScalarUnsigned),
    .SatScopeA5     (SatScopeA5),
    .ModesA5        (ModesA5),
    `include "pto_pass_widths.vh"
  ) u_write_back (
    .par_req_o, .par_gnt_i, .par_space_o, .par_addr_o, .par_rvalid_i, .par_rdata_i, .par_err_i,
    .flag_req_o, .flag_gnt_i, .flag_clear_o, .flag_addr_o, .flag_mask_o, .flag_rvalid_i,
    .flag_rdata_i,
    `include "pto_unit_pins.vh"
  );
  `undef PTO_UNIT
endmodule

`default_nettype wire

// SPDX-License-Identifier: Apache-2.0
//
// The ports of slot fix in addition to those of pto_engine_ports.vh: parameters and unit flags.
// Needs the parameters LocalAddrWidth and SrcDataWidth. Spec: docs/contract.md.
  output wire                      par_req_o,     // parameter read, stable until granted
  input  wire                      par_gnt_i,     // request taken
  output wire [2:0]                par_space_o,   // memory, FB
  output wire [LocalAddrWidth-1:0] par_addr_o,    // byte address, word aligned
  input  wire                      par_rvalid_i,  // reply, in order
  input  wire [SrcDataWidth-1:0]   par_rdata_i,   // word
  input  wire                      par_err_i,     // the read failed, with the reply
  output wire                      flag_req_o,    // unit flags: request, stable until granted
  input  wire                      flag_gnt_i,    // request taken
  output wire                      flag_clear_o,  // 0 read a word of flags, 1 clear flags
  output wire [3:0]                flag_addr_o,   // word: flags of blocks 32*addr to 32*addr + 31
  output wire [31:0]               flag_mask_o,   // flags waited for, or cleared; not 0
  input  wire                      flag_rvalid_i, // reply to a read, in order
  input  wire [31:0]               flag_rdata_i,  // flags of the word

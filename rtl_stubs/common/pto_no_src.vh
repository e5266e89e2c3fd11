// SPDX-License-Identifier: Apache-2.0
//
// For a unit with the ports of pto_engine_ports.vh that does not read on-chip memory: these
// outputs are 0, these inputs are ignored. Spec: docs/contract.md.
  assign {src_req_o, src_space_o, src_addr_o} = '0;
  wire unused_src = &{1'b0, src_gnt_i, src_rvalid_i, src_rdata_i, src_err_i};

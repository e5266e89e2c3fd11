// SPDX-License-Identifier: Apache-2.0
//
// For a unit with the ports of pto_engine_ports.vh that does not write on-chip memory: these
// outputs are 0, these inputs are ignored. Spec: docs/contract.md.
  assign {dst_req_o, dst_space_o, dst_addr_o, dst_be_o, dst_wdata_o} = '0;
  wire unused_dst = &{1'b0, dst_gnt_i, dst_err_i};

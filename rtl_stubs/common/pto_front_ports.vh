// SPDX-License-Identifier: Apache-2.0
//
// Ports of a front, included in its port list; needs TagWidth, Errors and Ends.
// Spec: docs/contract.md, desc and done port.
  input  wire                       clk_i,         // clock
  input  wire                       rst_ni,        // asynchronous reset, active low
  input  wire                       desc_valid_i,  // a descriptor is offered
  output wire                       desc_ready_o,  // it is taken
  input  wire [`PTO_DESC_BITS-1:0]  desc_i,        // the descriptor
  input  wire [TagWidth-1:0]        desc_tag_i,    // its tag
  output wire                       busy_o,        // a descriptor was taken and is not done
  output wire                       done_valid_o,  // the oldest op is done
  input  wire                       done_ready_i,  // the report is taken
  output wire [TagWidth-1:0]        done_tag_o,    // its tag
  output wire [2:0]                 done_status_o, // status code
  output wire [7:0]                 done_rule_o,   // violated rule or 0
  output wire [39:0]                done_addr_o,   // address of the first bad access or 0
  input  wire [Errors*`PTO_ERR_BITS-1:0] err_i,    // a pto_err_t of each port: failed accesses
  output wire [`PTO_NUM_ACTIVE-1:0] err_o,         // per op: an access failed
  output wire [`PTO_NUM_ACTIVE-1:0] err_now_o,     // the same, this clock included
  input  wire [Ends-1:0]            fin_valid_i,   // per port: an op's last access has finished
  input  wire [4*Ends-1:0]          fin_id_i,      // of this op

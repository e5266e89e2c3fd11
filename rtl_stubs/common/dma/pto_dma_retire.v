// SPDX-License-Identifier: Apache-2.0
//
// Ops in flight: gives each checked op a number, keeps its first error, and reports it done, in
// order, once its last access has finished. A later op may finish its accesses first; its done
// waits. Throughput: one op in and one out per clock. Latency: done is offered one clock after
// the finish. Limits: NumActive is a power of two, at least 2; errors in one clock are all taken
// when they are of different ops, else port a wins, then b. Spec: CONTRACT, done port.
//
//   clk         _/~\_/~\_/~\_/~\_
//   fin_valid   _/~~~\___________     last access of the oldest op
//   done_valid  _____/~~~~~~~\___     stays, payload stable, until done_ready
//   done_ready  _________/~~~\___
`default_nettype none
`include "pto_desc.vh"

module pto_dma_retire #(
  parameter integer NumActive   = 16,        // ops in flight, a power of two
  parameter integer IdWidth     = 4,         // bits of an op number, $clog2(NumActive)
  parameter integer TagWidth    = 8,         // bits of a tag
  parameter integer GmAddrWidth = 40         // bits of an address in a report
) (
  input  wire                   clk_i,         // clock
  input  wire                   rst_ni,        // asynchronous reset, active low
  input  wire                   new_valid_i,   // a judged op enters
  output wire                   new_ready_o,   // there is a number for it
  output wire [IdWidth-1:0]     new_id_o,      // that number
  input  wire [TagWidth-1:0]    new_tag_i,     // its tag
  input  wire                   new_idle_i,    // it has no rows and is finished at once
  input  wire                   new_bad_i,     // it violates a rule
  input  wire [7:0]             new_rule_i,    // number of the rule
  input  wire                   err_a_valid_i, // an access failed
  input  wire [IdWidth-1:0]     err_a_id_i,    // of this op
  input  wire [2:0]             err_a_status_i, // status code
  input  wire [GmAddrWidth-1:0] err_a_addr_i,  // address of the access
  input  wire                   err_b_valid_i, // second port, as a
  input  wire [IdWidth-1:0]     err_b_id_i,    // op
  input  wire [2:0]             err_b_status_i, // status code
  input  wire [GmAddrWidth-1:0] err_b_addr_i,  // address of the access
  input  wire                   err_c_valid_i, // third port, as a
  input  wire [IdWidth-1:0]     err_c_id_i,    // op
  input  wire [2:0]             err_c_status_i, // status code
  input  wire [GmAddrWidth-1:0] err_c_addr_i,  // address of the access
  output wire [NumActive-1:0]   err_o,         // per op: an access failed
  input  wire                   fin_valid_i,   // the last access of an op has finished
  input  wire [IdWidth-1:0]     fin_id_i,      // of this op
  output wire                   busy_o,        // an op is in flight
  output wire                   done_valid_o,  // the oldest op is done
  input  wire                   done_ready_i,  // the report is taken
  output wire [TagWidth-1:0]    done_tag_o,    // its tag
  output wire [2:0]             done_status_o, // status code
  output wire [7:0]             done_rule_o,   // violated rule or 0
  output wire [GmAddrWidth-1:0] done_addr_o    // address of the first bad access or 0
);
  reg [IdWidth:0]       new_ptr_q;
  reg [IdWidth:0]       done_ptr_q;
  reg [NumActive-1:0]   fin_q;
  reg [NumActive-1:0]   err_q;
  reg [NumActive-1:0]   bad_q;
  reg [TagWidth-1:0]    tag_q    [0:NumActive-1];
  reg [7:0]             rule_q   [0:NumActive-1];
  reg [2:0]             status_q [0:NumActive-1];
  reg [GmAddrWidth-1:0] addr_q   [0:NumActive-1];

  wire [IdWidth-1:0] new_id = new_ptr_q[IdWidth-1:0];
  wire [IdWidth-1:0] old_id = done_ptr_q[IdWidth-1:0];

  assign new_ready_o = new_ptr_q != {~done_ptr_q[IdWidth], old_id};
  assign new_id_o    = new_id;
  assign busy_o      = new_ptr_q != done_ptr_q;
  assign err_o       = err_q;

  assign done_valid_o  = busy_o && fin_q[old_id];
  assign done_tag_o    = tag_q[old_id];
  assign done_status_o = bad_q[old_id] ? `PTO_ST_RULE
                       : err_q[old_id] ? status_q[old_id] : `PTO_ST_OK;
  assign done_rule_o   = bad_q[old_id] ? rule_q[old_id] : 8'd0;
  assign done_addr_o   = err_q[old_id] ? addr_q[old_id] : {GmAddrWidth{1'b0}};

  wire new_fire = new_valid_i && new_ready_o;
  // Only the first error of an op counts.
  wire take_a = err_a_valid_i && !err_q[err_a_id_i];
  wire take_b = err_b_valid_i && !err_q[err_b_id_i]
             && !(err_a_valid_i && err_a_id_i == err_b_id_i);
  wire take_c = err_c_valid_i && !err_q[err_c_id_i]
             && !(err_a_valid_i && err_a_id_i == err_c_id_i)
             && !(err_b_valid_i && err_b_id_i == err_c_id_i);

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      new_ptr_q  <= {(IdWidth + 1){1'b0}};
      done_ptr_q <= {(IdWidth + 1){1'b0}};
      fin_q      <= {NumActive{1'b0}};
      err_q      <= {NumActive{1'b0}};
      bad_q      <= {NumActive{1'b0}};
    end else begin
      if (fin_valid_i) fin_q[fin_id_i] <= 1'b1;
      if (take_a) err_q[err_a_id_i] <= 1'b1;
      if (take_b) err_q[err_b_id_i] <= 1'b1;
      if (take_c) err_q[err_c_id_i] <= 1'b1;
      if (new_fire) begin
        new_ptr_q     <= new_ptr_q + 1'b1;
        fin_q[new_id] <= new_idle_i;
        err_q[new_id] <= 1'b0;
        bad_q[new_id] <= new_bad_i;
      end
      if (done_valid_o && done_ready_i) done_ptr_q <= done_ptr_q + 1'b1;
    end
  end

  always @(posedge clk_i) begin
    if (new_fire) begin
      tag_q[new_id]  <= new_tag_i;
      rule_q[new_id] <= new_rule_i;
    end
    if (take_c) begin
      status_q[err_c_id_i] <= err_c_status_i;
      addr_q[err_c_id_i]   <= err_c_addr_i;
    end
    if (take_b) begin
      status_q[err_b_id_i] <= err_b_status_i;
      addr_q[err_b_id_i]   <= err_b_addr_i;
    end
    if (take_a) begin
      status_q[err_a_id_i] <= err_a_status_i;
      addr_q[err_a_id_i]   <= err_a_addr_i;
    end
  end
endmodule

`default_nettype wire

// SPDX-License-Identifier: Apache-2.0
//
// Ops in the data path of the write-back unit: gives each a number, keeps its first error, and
// reports it finished, in order, once its last access is done. A later op may be done with its
// accesses first; its report waits.
// Throughput: one op in and one out per clock. Latency: fin is offered one clock after the end.
// Limits: NumActive is a power of two, at least 2; errors of one op in one clock: the lowest of
// the four ports counts. Spec: CONTRACT, errors.
//
//   clk        _/~\_/~\_/~\_/~\_
//   end_valid  _/~~~\___________     last access of the oldest op
//   fin_valid  _____/~~~~~~~\___     stays, payload stable, until fin_ready
//   fin_ready  _________/~~~\___
`default_nettype none
`include "pto_desc.vh"

module pto_fix_retire #(
  parameter integer NumActive   = 4,         // ops in the data path, a power of two
  parameter integer IdWidth     = 2,         // bits of an op number, $clog2(NumActive)
  parameter integer GmAddrWidth = 40         // bits of an address in a report
) (
  input  wire                     clk_i,        // clock
  input  wire                     rst_ni,       // asynchronous reset, active low
  input  wire                     new_valid_i,  // an op enters
  output wire                     new_ready_o,  // there is a number for it
  output wire [IdWidth-1:0]       new_id_o,     // that number
  input  wire [3:0]               err_valid_i,  // per port: an access failed
  input  wire [4*IdWidth-1:0]     err_id_i,     // of this op
  input  wire [11:0]              err_status_i, // status code
  input  wire [4*GmAddrWidth-1:0] err_addr_i,   // address of the access
  output wire [NumActive-1:0]     err_o,        // per op: an access failed, from that clock on
  input  wire [1:0]               end_valid_i,  // per port: the last access of an op is done
  input  wire [2*IdWidth-1:0]     end_id_i,     // of this op
  output wire                     fin_valid_o,  // the oldest op is finished
  input  wire                     fin_ready_i,  // the report is taken
  output wire [2:0]               fin_status_o, // status code
  output wire [GmAddrWidth-1:0]   fin_addr_o    // address of the first bad access or 0
);
  localparam [NumActive-1:0] ONE = {{(NumActive - 1){1'b0}}, 1'b1};

  reg [IdWidth:0]       new_ptr_q;
  reg [IdWidth:0]       old_ptr_q;
  reg [NumActive-1:0]   end_q;
  reg [NumActive-1:0]   err_q;
  reg [2:0]             status_q [0:NumActive-1];
  reg [GmAddrWidth-1:0] addr_q   [0:NumActive-1];

  wire [IdWidth-1:0] new_id = new_ptr_q[IdWidth-1:0];
  wire [IdWidth-1:0] old_id = old_ptr_q[IdWidth-1:0];
  wire               take   = new_valid_i && new_ready_o;

  assign new_ready_o  = new_ptr_q != {~old_ptr_q[IdWidth], old_id};
  assign new_id_o     = new_id;
  assign fin_valid_o  = end_q[old_id];
  assign fin_status_o = err_q[old_id] ? status_q[old_id] : `PTO_ST_OK;
  assign fin_addr_o   = err_q[old_id] ? addr_q[old_id] : {GmAddrWidth{1'b0}};

  reg [NumActive-1:0] err_now, end_now;
  integer k;

  always @(*) begin
    err_now = {NumActive{1'b0}};
    end_now = {NumActive{1'b0}};
    for (k = 0; k < 4; k = k + 1)
      if (err_valid_i[k]) err_now = err_now | (ONE << err_id_i[k*IdWidth +: IdWidth]);
    for (k = 0; k < 2; k = k + 1)
      if (end_valid_i[k]) end_now = end_now | (ONE << end_id_i[k*IdWidth +: IdWidth]);
  end
  assign err_o = err_q | err_now;

  wire [NumActive-1:0] enters = take ? ONE << new_id : {NumActive{1'b0}};
  wire [NumActive-1:0] leaves = (fin_valid_o && fin_ready_i) ? ONE << old_id : {NumActive{1'b0}};

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      new_ptr_q <= {(IdWidth + 1){1'b0}};
      old_ptr_q <= {(IdWidth + 1){1'b0}};
      end_q     <= {NumActive{1'b0}};
      err_q     <= {NumActive{1'b0}};
    end else begin
      if (take) new_ptr_q <= new_ptr_q + 1'b1;
      if (fin_valid_o && fin_ready_i) old_ptr_q <= old_ptr_q + 1'b1;
      end_q <= (end_q & ~leaves) | end_now;
      err_q <= (err_q & ~enters) | err_now;
    end
  end

  integer j;
  always @(posedge clk_i) begin
    if (|err_valid_i) begin
      for (j = 3; j >= 0; j = j - 1) begin       // the last assignment counts: port 0
        if (err_valid_i[j] && !err_q[err_id_i[j*IdWidth +: IdWidth]]) begin
          status_q[err_id_i[j*IdWidth +: IdWidth]] <= err_status_i[3*j +: 3];
          addr_q[err_id_i[j*IdWidth +: IdWidth]]   <= err_addr_i[j*GmAddrWidth +: GmAddrWidth];
        end
      end
    end
  end
endmodule

`default_nettype wire

// SPDX-License-Identifier: Apache-2.0
//
// Ops in the data path of the write-back unit: gives each a number, keeps its first error, and
// reports it finished, in order, once its last access is done. A later op may be done with its
// accesses first; its report waits.
// Throughput: one op in and one out per clock. Latency: fin is offered one clock after the end.
// Limits: 8 ops; errors of one op in one clock: that of port a counts, then b, c, d.
// Spec: CONTRACT, errors.
//
//   clk        _/~\_/~\_/~\_/~\_
//   end_valid  _/~~~\___________     last access of the oldest op
//   fin_valid  _____/~~~~~~~\___     stays, payload stable, until fin_ready
//   fin_ready  _________/~~~\___
`default_nettype none
`include "pto_records.vh"

module pto_fix_retire (
  input  wire                       clk_i,        // clock
  input  wire                       rst_ni,       // asynchronous reset, active low
  input  wire                       new_valid_i,  // an op enters
  output wire                       new_ready_o,  // there is a number for it
  output wire [3:0]                 new_id_o,     // that number, 0 to 7
  input  wire pto_err_t             err_a_i,      // an access failed
  input  wire pto_err_t             err_b_i,      // second port, as a
  input  wire pto_err_t             err_c_i,      // third port, as a
  input  wire pto_err_t             err_d_i,      // fourth port, as a
  output wire [`PTO_NUM_ACTIVE-1:0] err_o,        // per op: an access failed, from that clock on
  input  wire [1:0]                 end_valid_i,  // per port: the last access of an op is done
  input  wire [7:0]                 end_id_i,     // of this op
  output wire                       fin_valid_o,  // the oldest op is finished
  input  wire                       fin_ready_i,  // the report is taken
  output wire [2:0]                 fin_status_o, // status code
  output wire [39:0]                fin_addr_o    // address of the first bad access or 0
);
  localparam integer NumActive   = 8;
  localparam integer IdWidth     = 3;
  localparam integer GmAddrWidth = 40;
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
  assign new_id_o     = {1'b0, new_id};
  assign fin_valid_o  = end_q[old_id];
  assign fin_status_o = err_q[old_id] ? status_q[old_id] : `PTO_ST_OK;
  assign fin_addr_o   = err_q[old_id] ? addr_q[old_id] : {GmAddrWidth{1'b0}};

  // The ports as vectors, a low.
  wire [3:0]  err_valid  = {err_d_i.valid, err_c_i.valid, err_b_i.valid, err_a_i.valid};
  wire [11:0] err_id     = {err_d_i.id[2:0], err_c_i.id[2:0], err_b_i.id[2:0], err_a_i.id[2:0]};
  wire [11:0] err_status = {err_d_i.status, err_c_i.status, err_b_i.status, err_a_i.status};
  wire [159:0] err_addr  = {err_d_i.addr, err_c_i.addr, err_b_i.addr, err_a_i.addr};

  reg [NumActive-1:0] err_now, end_now;
  integer k;

  always @(*) begin
    err_now = {NumActive{1'b0}};
    end_now = {NumActive{1'b0}};
    for (k = 0; k < 4; k = k + 1)
      if (err_valid[k]) err_now = err_now | (ONE << err_id[k*IdWidth +: IdWidth]);
    for (k = 0; k < 2; k = k + 1)
      if (end_valid_i[k]) end_now = end_now | (ONE << end_id_i[4*k +: IdWidth]);
  end
  assign err_o = {8'd0, err_q | err_now};

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
    if (|err_valid) begin
      for (j = 3; j >= 0; j = j - 1) begin       // the last assignment counts: port 0
        if (err_valid[j] && !err_q[err_id[j*IdWidth +: IdWidth]]) begin
          status_q[err_id[j*IdWidth +: IdWidth]] <= err_status[3*j +: 3];
          addr_q[err_id[j*IdWidth +: IdWidth]]   <= err_addr[j*GmAddrWidth +: GmAddrWidth];
        end
      end
    end
  end
  wire unused = &{1'b0, err_a_i, err_b_i, err_c_i, err_d_i, end_id_i};
endmodule

`default_nettype wire

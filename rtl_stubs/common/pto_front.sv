// SPDX-License-Identifier: Apache-2.0
//
// Front of a unit: the queue of descriptors, and the ops in flight. A descriptor leaves at head,
// the check of the unit returns it with a verdict; the op then takes a number, and unless it is
// idle it starts at once. Its first error is kept, and it is reported done, in order, when its
// last access has finished. A later op may finish first; its done waits.
// Throughput: one op in and one out per clock. Latency: head one clock after the descriptor
// handshake, done one clock after the finish. Limits: depths are powers of two, at least 2; errors
// in one clock are all taken when they are of different ops, else that of the lowest port.
// Spec: docs/contract.md, desc and done port.
//
//   clk         _/~\_/~\_/~\_/~\_
//   fin_valid   _/~~~\___________     last access of the oldest op
//   done_valid  _____/~~~~~~~\___     stays, payload stable, until done_ready
//   done_ready  _________/~~~\___
`default_nettype none
`include "pto_records.vh"

module pto_front #(
  parameter integer TagWidth   = 8,          // bits of a tag
  parameter integer QueueDepth = 4,          // descriptors queued before the check
  parameter integer Errors     = 2,          // ports of errors
  parameter integer Ends       = 1,          // ports of ends
  parameter integer EntryError = 0           // 1: the highest error port is of idle ops that enter
) (
  `include "pto_front_ports.vh"
  output wire                      head_valid_o,  // a descriptor is to be checked
  input  wire                      head_ready_i,  // it is taken
  output wire [`PTO_DESC_BITS-1:0] head_o,        // the descriptor
  output wire [TagWidth-1:0]       head_tag_o,    // its tag
  input  wire                      job_valid_i,   // a judged op is there
  output wire                      job_ready_o,   // it is taken
  input  wire pto_verdict_t        job_verdict_i, // its verdict
  input  wire [TagWidth-1:0]       job_tag_i,     // its tag
  input  wire                      check_busy_i,  // the check has an op
  output wire                      start_valid_o, // an op with rows has the number start_id_o
  input  wire                      start_ready_i, // its rows may start
  output wire [3:0]                start_id_o     // op number
);
  // ---- queue. In reset no handshake may be seen: ready comes up with the first clock ----
  reg  up_q;
  wire queue_ready;
  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) up_q <= 1'b0;
    else up_q <= 1'b1;
  end
  assign desc_ready_o = up_q && queue_ready;

  pto_fifo #(
    .Width(`PTO_DESC_BITS + TagWidth),
    .Depth(QueueDepth)
  ) u_queue (
    .clk_i, .rst_ni,
    .wr_valid_i (desc_valid_i && up_q),
    .wr_ready_o (queue_ready),
    .wr_data_i  ({desc_tag_i, desc_i}),
    .rd_valid_o (head_valid_o),
    .rd_ready_i (head_ready_i),
    .rd_data_o  ({head_tag_o, head_o})
  );

  // ---- ops in flight ----
  reg [4:0]                 new_ptr_q;
  reg [4:0]                 done_ptr_q;
  reg [`PTO_NUM_ACTIVE-1:0] fin_q;
  reg [`PTO_NUM_ACTIVE-1:0] err_q;
  reg [`PTO_NUM_ACTIVE-1:0] bad_q;
  reg [TagWidth-1:0]        tag_q    [0:`PTO_NUM_ACTIVE-1];
  reg [7:0]                 rule_q   [0:`PTO_NUM_ACTIVE-1];
  reg [2:0]                 status_q [0:`PTO_NUM_ACTIVE-1];
  reg [39:0]                addr_q   [0:`PTO_NUM_ACTIVE-1];

  wire [3:0] new_id = new_ptr_q[3:0];
  wire [3:0] old_id = done_ptr_q[3:0];
  wire       new_ready = new_ptr_q != {~done_ptr_q[4], old_id};
  wire       active    = new_ptr_q != done_ptr_q;

  assign start_id_o    = new_id;
  assign start_valid_o = job_valid_i && !job_verdict_i.idle && new_ready;
  assign job_ready_o   = new_ready && (job_verdict_i.idle || start_ready_i);
  assign busy_o        = head_valid_o || check_busy_i || active;

  assign done_valid_o  = active && fin_q[old_id];
  assign done_tag_o    = tag_q[old_id];
  assign done_status_o = bad_q[old_id] ? `PTO_ST_RULE
                       : err_q[old_id] ? status_q[old_id] : `PTO_ST_OK;
  assign done_rule_o   = bad_q[old_id] ? rule_q[old_id] : 8'd0;
  assign done_addr_o   = err_q[old_id] ? addr_q[old_id] : 40'd0;

  wire new_fire = job_valid_i && job_ready_o;
  wire retire   = done_valid_o && done_ready_i;

  // ---- errors and ends of this clock. Only the first error of an op counts ----
  wire [Errors-1:0]          err_valid;
  wire [4*Errors-1:0]        err_id;
  wire [3*Errors-1:0]        err_status;
  wire [40*Errors-1:0]       err_addr;
  reg  [`PTO_NUM_ACTIVE-1:0] err_now, fin_now;
  wire [`PTO_NUM_ACTIVE-1:0] enters = (16'd1 << new_id) & {16{new_fire}};
  genvar  p;
  integer i, j;

  generate
    for (p = 0; p < Errors; p = p + 1) begin : gen_err
      wire pto_err_t err;
      assign err = err_i[p*`PTO_ERR_BITS +: `PTO_ERR_BITS];
      assign err_valid[p]         = err.valid;
      assign err_id[4*p +: 4]     = err.id;
      assign err_status[3*p +: 3] = err.status;
      assign err_addr[40*p +: 40] = err.addr;
    end
  endgenerate

  always @* begin
    err_now = {`PTO_NUM_ACTIVE{1'b0}};
    fin_now = {`PTO_NUM_ACTIVE{1'b0}};
    for (i = 0; i < Errors; i = i + 1)
      err_now = err_now | (err_valid[i] ? 16'd1 << err_id[4*i +: 4] : 16'd0);
    for (i = 0; i < Ends; i = i + 1)
      fin_now = fin_now | (fin_valid_i[i] ? 16'd1 << fin_id_i[4*i +: 4] : 16'd0);
  end
  assign err_o     = err_q;
  assign err_now_o = err_q | err_now;

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      new_ptr_q  <= 5'd0;
      done_ptr_q <= 5'd0;
      fin_q      <= {`PTO_NUM_ACTIVE{1'b0}};
      err_q      <= {`PTO_NUM_ACTIVE{1'b0}};
      bad_q      <= {`PTO_NUM_ACTIVE{1'b0}};
    end else begin
      fin_q <= fin_q | fin_now;
      err_q <= (err_q & ~enters) | err_now;
      if (new_fire) begin
        new_ptr_q     <= new_ptr_q + 5'd1;
        fin_q[new_id] <= job_verdict_i.idle;
        bad_q[new_id] <= job_verdict_i.bad;
      end
      if (retire) done_ptr_q <= done_ptr_q + 5'd1;
    end
  end

  always @(posedge clk_i) begin
    if (new_fire) begin
      tag_q[new_id]  <= job_tag_i;
      rule_q[new_id] <= job_verdict_i.rule;
    end
    for (j = Errors - 1; j >= 0; j = j - 1) begin  // the last assignment counts: the lowest port
      if (err_valid[j] && (!err_q[err_id[4*j +: 4]] || (EntryError != 0 && j == Errors - 1))) begin
        status_q[err_id[4*j +: 4]] <= err_status[3*j +: 3];
        addr_q[err_id[4*j +: 4]]   <= err_addr[40*j +: 40];
      end
    end
  end
endmodule

`default_nettype wire

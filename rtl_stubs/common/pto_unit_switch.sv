// SPDX-License-Identifier: Apache-2.0
//
// The descriptor queue of a pipe of two units: passes each descriptor to the unit that serves its
// opcode, and keeps the pipe in order. A unit gets a descriptor only while no op is in flight in
// the other, so reports are in order and the buses of the pipe belong to
// one unit at a time (sel_o). An opcode that unit 1 does not serve goes to unit 0, which reports
// unknown ones.
// Throughput: one descriptor and one report per clock as long as the unit stays the same; units
// have their own queues, so their rows follow each other without a bubble. Latency: 0
// clocks for a descriptor that finds this queue empty and its unit free to take it, and for
// reports; else it is offered one clock after the last report of the other unit was taken.
// Cost of a change of unit: the pipe drains. Between the last access of one unit and the first of
// the other lie the end of the old op (its B response or grant, and done taken), that one clock,
// another one for the clock of the new unit (pto_clock_gate), and its latency from descriptor to
// first access.
// Limits: Depth is a power of two, at least 2; a unit must keep the port contract, busy and reset
// behaviour included. Spec: docs/contract.md, desc and done port; README.md, ordering.
//
//   clk              _/~\_/~\_/~\_/~\_/~\_/~\_
//   desc_valid_i     _/~~~~~~~\_______________     op of unit 0, op of unit 1
//   unit_desc_valid  _/0~~\_______________/1~~     one bit per unit; 1 waits for the done of 0
//   unit_done_valid  _________________/0~~\___
//   sel_o            _____________________/~~~     on from the clock after the first descriptor
`default_nettype none
`include "pto_desc.vh"

module pto_unit_switch #(
  parameter [255:0] UnitOneOps  = 256'd0,    // bit k: opcode k goes to unit 1, all else to unit 0
  parameter integer TagWidth    = 8,         // bits of a tag
  parameter integer Depth       = 2          // descriptors queued here, a power of two
) (
  input  wire                      clk_i,              // clock
  input  wire                      rst_ni,             // asynchronous reset, active low
  input  wire                      desc_valid_i,       // a descriptor is offered
  output wire                      desc_ready_o,       // it is taken
  input  wire [`PTO_DESC_BITS-1:0] desc_i,             // the descriptor
  input  wire [TagWidth-1:0]       desc_tag_i,         // its tag
  output wire                      done_valid_o,       // the oldest op is done
  input  wire                      done_ready_i,       // the report is taken
  output wire [TagWidth-1:0]       done_tag_o,         // its tag
  output wire [2:0]                done_status_o,      // status code
  output wire [7:0]                done_rule_o,        // violated rule or 0
  output wire [39:0]               done_addr_o,        // address of the first bad access or 0
  output wire                      busy_o,             // a descriptor was taken and is not done
  output wire                      sel_o,              // unit that owns the buses of the pipe
  output wire [1:0]                unit_desc_valid_o,  // per unit: a descriptor is offered
  input  wire [1:0]                unit_desc_ready_i,  // per unit: it is taken
  output wire [`PTO_DESC_BITS-1:0] unit_desc_o,        // the descriptor, for both
  output wire [TagWidth-1:0]       unit_desc_tag_o,    // its tag
  input  wire [1:0]                unit_done_valid_i,  // per unit: an op is done
  output wire [1:0]                unit_done_ready_o,  // per unit: the report is taken
  input  wire [1:0][TagWidth-1:0]  unit_done_tag_i,    // per unit: its tag
  input  wire [1:0][2:0]           unit_done_status_i, // per unit: status code
  input  wire [1:0][7:0]           unit_done_rule_i,   // per unit: violated rule
  input  wire [1:0][39:0]          unit_done_addr_i,   // per unit: address
  input  wire [1:0]                unit_busy_i         // per unit: an op was taken and is not done
);
  localparam integer FlightBits = 8;         // far more ops than a unit holds
  localparam [FlightBits-1:0] MOST = {FlightBits{1'b1}};

  // In reset no handshake may be seen, so ready comes up with the first clock.
  reg up_q;
  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) up_q <= 1'b0;
    else up_q <= 1'b1;
  end

  // ---- queue; a descriptor that finds it empty may pass ----
  wire                      queue_ready, queue_valid;
  wire [`PTO_DESC_BITS-1:0] queue_desc;
  wire [TagWidth-1:0]       queue_tag;

  assign desc_ready_o    = up_q && queue_ready;
  wire   take            = desc_valid_i && desc_ready_o;
  wire   next_valid      = queue_valid || take;
  assign unit_desc_o     = queue_valid ? queue_desc : desc_i;
  assign unit_desc_tag_o = queue_valid ? queue_tag : desc_tag_i;

  // ---- to a unit, while the other has nothing in flight ----
  reg                  sel_q;                // unit of the ops in flight, or of the last one
  reg [FlightBits-1:0] flight_q;             // ops handed over and not done, all in one unit

  wire [7:0] opcode = unit_desc_o[`PTO_DESC_OPCODE];
  wire       unit   = UnitOneOps[opcode];
  wire       none   = flight_q == {FlightBits{1'b0}} && !unit_busy_i[!unit];
  wire       may_go = flight_q != MOST && (unit == sel_q || none);
  wire       offer  = next_valid && may_go;
  wire       dispatch   = offer && unit_desc_ready_i[unit];
  wire       retire = done_valid_o && done_ready_i;

  assign unit_desc_valid_o = {offer && unit, offer && !unit};

  pto_fifo #(
    .Width(`PTO_DESC_BITS + TagWidth),
    .Depth(Depth)
  ) u_queue (
    .clk_i, .rst_ni,
    .wr_valid_i (take && (queue_valid || !dispatch)),
    .wr_ready_o (queue_ready),
    .wr_data_i  ({desc_tag_i, desc_i}),
    .rd_valid_o (queue_valid),
    .rd_ready_i (dispatch),
    .rd_data_o  ({queue_tag, queue_desc})
  );

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      sel_q    <= 1'b0;
      flight_q <= {FlightBits{1'b0}};
    end else begin
      if (dispatch) sel_q <= unit;
      flight_q <= flight_q + {{(FlightBits - 1){1'b0}}, dispatch}
                           - {{(FlightBits - 1){1'b0}}, retire};
    end
  end

  // ---- reports, of the selected unit only ----
  assign done_valid_o      = unit_done_valid_i[sel_q];
  assign unit_done_ready_o = {done_ready_i && sel_q, done_ready_i && !sel_q};
  assign done_tag_o        = unit_done_tag_i[sel_q];
  assign done_status_o     = unit_done_status_i[sel_q];
  assign done_rule_o       = unit_done_rule_i[sel_q];
  assign done_addr_o       = unit_done_addr_i[sel_q];
  assign busy_o            = queue_valid || flight_q != {FlightBits{1'b0}};
  assign sel_o             = sel_q;
endmodule

`default_nettype wire

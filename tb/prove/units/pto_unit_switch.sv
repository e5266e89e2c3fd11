// SPDX-License-Identifier: Apache-2.0
//
// Properties of pto_unit_switch with tags of 2 bits and a queue of 2: every descriptor goes to the
// unit that serves its opcode, once and in order, only while the other unit has no op, and the
// reports are those of the units in the order of the descriptors. One descriptor is followed.
// Sources: common/pto_unit_switch.sv common/pto_fifo.sv common/pto_ram.sv
// Bugs: unit_started_before_drained:one_at_a_time unit_started_one_op_early:one_at_a_time
// Bugs: unit_queue_loses_descriptor:not_lost unit_reports_swapped:report
// Bugs: unit_status_of_unit_0:report busy_low_before_done_taken:busy_exact
// Bugs: every_descriptor_waits_a_clock:offered pipe_drains_after_each_op:offered
module prove (
  input wire       clk,
  input wire       desc_valid,
  input wire [7:0] opcode,
  input wire [1:0] tag,
  input wire       done_ready,
  input wire [1:0] unit_ready,
  input wire [1:0] unit_done,
  input wire [1:0] tag_0,
  input wire [1:0] tag_1,
  input wire [2:0] status_0,
  input wire [2:0] status_1,
  input wire [7:0] rule_0,
  input wire [7:0] rule_1,
  input wire [1:0] addr_0,
  input wire [1:0] addr_1,
  input wire [1:0] late,                     // a unit is busy beyond its last report
  input wire       mark                      // follow this descriptor
);
  localparam [255:0] OneOps = (256'd1 << 2) | (256'd1 << 255);
  reg rst_n = 1'b0;
  always @(posedge clk) rst_n <= 1'b1;

  wire         desc_ready, done_valid, busy, sel;
  wire [1:0]   done_tag, unit_valid, unit_done_ready, unit_tag, unit_busy;
  wire [2:0]   done_status;
  wire [7:0]   done_rule;
  wire [39:0]  done_addr;
  wire [511:0] unit_desc;
  pto_unit_switch #(.UnitOneOps(OneOps), .TagWidth(2), .Depth(2)) u_switch (
    .clk_i(clk), .rst_ni(rst_n), .desc_valid_i(desc_valid), .desc_ready_o(desc_ready),
    .desc_i({504'd0, opcode}), .desc_tag_i(tag), .done_valid_o(done_valid),
    .done_ready_i(done_ready), .done_tag_o(done_tag), .done_status_o(done_status),
    .done_rule_o(done_rule), .done_addr_o(done_addr), .busy_o(busy), .sel_o(sel),
    .unit_desc_valid_o(unit_valid), .unit_desc_ready_i(unit_ready), .unit_desc_o(unit_desc),
    .unit_desc_tag_o(unit_tag), .unit_done_valid_i(unit_done), .unit_done_ready_o(unit_done_ready),
    .unit_done_tag_i({tag_1, tag_0}), .unit_done_status_i({status_1, status_0}),
    .unit_done_rule_i({rule_1, rule_0}), .unit_done_addr_i({38'd0, addr_1, 38'd0, addr_0}),
    .unit_busy_i(unit_busy)
  );
  (* hierconn *) wire [7:0] \u_switch.flight_q ;
  (* hierconn *) wire [1:0] \u_switch.u_queue.wr_ptr_q ;
  (* hierconn *) wire [1:0] \u_switch.u_queue.rd_ptr_q ;

  // Descriptors taken and not handed over; ops in each unit. The number of ops of a unit is limited
  // by it, to less than the part could count.
  reg        up = 1'b0;                      // a clock has passed since the reset
  reg  [1:0] waiting = 2'd0;
  reg  [4:0] ops_0 = 5'd0, ops_1 = 5'd0;
  reg        owns = 1'b0;                    // unit of the last op that was handed over
  wire       take    = rst_n && desc_valid && desc_ready;
  wire [1:0] start   = {2{rst_n}} & unit_valid & unit_ready;
  wire [1:0] finish  = {2{rst_n}} & unit_done & unit_done_ready;
  assign unit_busy = {ops_1 != 5'd0, ops_0 != 5'd0} | late;
  always @(posedge clk) begin
    up      <= rst_n;
    waiting <= waiting + {1'b0, take} - {1'b0, start != 2'd0};
    if (start != 2'd0) owns <= start[1];
    ops_0   <= ops_0 + {4'd0, start[0]} - {4'd0, finish[0]};
    ops_1   <= ops_1 + {4'd0, start[1]} - {4'd0, finish[1]};
  end

  // The followed descriptor, until its report.
  reg        marked = 1'b0;
  reg        inside;                         // in its unit
  reg  [5:0] before;                         // reports before its own
  reg  [7:0] its_opcode;
  reg  [1:0] its_tag;
  wire       its_unit = OneOps[its_opcode];
  wire [5:0] ahead = {1'b0, ops_0} + {1'b0, ops_1} + {4'd0, waiting};
  wire [1:0] turn  = before[1:0] - ops_0[1:0] - ops_1[1:0];  // descriptors before it, outside
  wire       next  = marked ? !inside && before == {1'b0, ops_0} + {1'b0, ops_1}
                            : take && mark && waiting == 2'd0;     // it is the next to go
  wire       retire = done_valid && done_ready;
  always @(posedge clk) if (rst_n) begin
    if (!marked && take && mark) begin
      marked     <= 1'b1;
      inside     <= waiting == 2'd0 && start != 2'd0;
      before     <= ahead - {5'd0, retire};
      its_opcode <= opcode;
      its_tag    <= tag;
    end else if (marked) begin
      if (retire && before == 6'd0) marked <= 1'b0;
      else if (retire) before <= before - 6'd1;
      if (next && start != 2'd0) inside <= 1'b1;
    end
  end

  wire [7:0] next_opcode = marked ? its_opcode : opcode;
  wire [1:0] next_tag    = marked ? its_tag : tag;
  wire       next_unit   = OneOps[next_opcode];
  wire [4:0] others      = next_unit ? ops_0 : ops_1;
  always @* begin
    // A unit reports ops that it has, and holds at most 20.
    assume(!unit_done[0] || ops_0 != 5'd0);
    assume(!unit_done[1] || ops_1 != 5'd0);
    assume(!unit_ready[0] || ops_0 < 5'd20);
    assume(!unit_ready[1] || ops_1 < 5'd20);
    if (rst_n) begin
      lemma_one: assert(ops_0 == 5'd0 || ops_1 == 5'd0);
      lemma_sel: assert((ops_0 == 5'd0 || !sel) && (ops_1 == 5'd0 || sel));
      lemma_flight: assert(\u_switch.flight_q == {3'd0, ops_0} + {3'd0, ops_1}
                           && ops_0 <= 5'd20 && ops_1 <= 5'd20);
      lemma_queue: assert(\u_switch.u_queue.wr_ptr_q - \u_switch.u_queue.rd_ptr_q == waiting);
      lemma_inside: assert(!marked || inside == (before < {1'b0, ops_0} + {1'b0, ops_1}));
      lemma_outside: assert(!marked || before < ahead);
      one_at_a_time: assert(!(unit_valid[0] && (ops_1 != 5'd0 || (sel && unit_busy[1])))
                            && !(unit_valid[1] && (ops_0 != 5'd0 || (!sel && unit_busy[0]))));
      one_offer: assert(unit_valid != 2'b11);
      owner: assert((ops_0 == 5'd0 || !sel) && (ops_1 == 5'd0 || sel));
      sel_exact: assert(sel == owns);
      no_more_than_there: assert(unit_valid == 2'd0 || waiting != 2'd0 || take);
      not_lost: assert(!next || unit_valid == 2'd0
                       || (unit_valid == {next_unit, !next_unit} && unit_desc[7:0] == next_opcode
                           && unit_tag == next_tag));
      offered: assert(!next || others != 5'd0 || unit_busy[!next_unit] || unit_valid != 2'd0);
      ready_exact: assert(desc_ready == (up && waiting != 2'd2));
      report: assert(!(marked && before == 6'd0 && inside)
                     || (done_valid == unit_done[its_unit]
                         && unit_done_ready == {done_ready && its_unit, done_ready && !its_unit}
                         && {done_tag, done_status, done_rule, done_addr}
                            == (its_unit ? {tag_1, status_1, rule_1, 38'd0, addr_1}
                                         : {tag_0, status_0, rule_0, 38'd0, addr_0})));
      report_has_op: assert(!done_valid || ops_0 != 5'd0 || ops_1 != 5'd0);
      busy_exact: assert(busy == (ahead != 6'd0));
      reach_many: assert(!(marked && inside && before == 6'd19));
      reach_change: assert(!(marked && !inside && next && its_unit && !sel && start != 2'd0));
      reach_queue: assert(!(marked && turn == 2'd1 && waiting == 2'd2 && !inside));
    end
  end
endmodule

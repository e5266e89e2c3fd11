// SPDX-License-Identifier: Apache-2.0
//
// Properties of pto_front with tags of 2 bits: descriptors leave the queue in order, each once;
// ops are reported in order, each once and only when it has finished, with its tag, its verdict
// and its first error, also when three errors come in one clock. An op of one number is followed;
// of an address, two bits are compared.
// Sources: common/pto_front.sv common/pto_fifo.sv common/pto_ram.sv
// Variant: Id=4'd0 Entry=0
// Variant: Id=4'd13 Entry=1
// Bugs: tag_7_bit:its_tag done_falls:stable last_error_instead_of_first:its_status
// Bugs: second_error_of_a_clock_is_lost:error_seen
// Bugs: error_of_an_idle_op_is_lost:error_seen finish_lost_at_done:not_before_end
`include "pto_records.vh"

module prove #(
  parameter [3:0] Id = 4'd0,                 // number of the op that is followed
  parameter integer Entry = 0                // 1: port c has errors of idle ops that enter
) (
  input wire          clk,
  input wire          desc_valid,
  input wire [511:0]  desc,
  input wire [1:0]    desc_tag,
  input wire          head_ready,
  input wire          job_valid,
  input pto_verdict_t verdict,
  input wire [1:0]    job_tag,
  input wire          start_ready,
  input pto_err_t     err_a,
  input pto_err_t     err_b,
  input pto_err_t     err_c,
  input wire [1:0]    fin_valid,
  input wire [7:0]    fin_ids,
  input wire          done_ready,
  input wire          mark                   // follow the op that enters
);
  reg rst_n = 1'b0;
  always @(posedge clk) rst_n <= 1'b1;

  wire         desc_ready, busy, done_valid, head_valid, job_ready, start_valid;
  wire [1:0]   done_tag, head_tag;
  wire [2:0]   status;
  wire [7:0]   rule;
  wire [39:0]  addr;
  wire [15:0]  err, err_now;
  wire [511:0] head;
  wire [3:0]   start_id;
  pto_front #(.TagWidth(2), .QueueDepth(2), .Errors(3), .Ends(2), .EntryError(Entry)) u_front (
    .clk_i(clk), .rst_ni(rst_n), .desc_valid_i(desc_valid), .desc_ready_o(desc_ready),
    .desc_i(desc), .desc_tag_i(desc_tag), .busy_o(busy), .done_valid_o(done_valid),
    .done_ready_i(done_ready), .done_tag_o(done_tag), .done_status_o(status), .done_rule_o(rule),
    .done_addr_o(addr), .err_i({err_c, err_b, err_a}), .err_o(err),
    .err_now_o(err_now), .fin_valid_i(fin_valid), .fin_id_i(fin_ids), .head_valid_o(head_valid),
    .head_ready_i(head_ready), .head_o(head), .head_tag_o(head_tag), .job_valid_i(job_valid),
    .job_ready_o(job_ready), .job_verdict_i(verdict), .job_tag_i(job_tag), .check_busy_i(1'b0),
    .start_valid_o(start_valid), .start_ready_i(start_ready), .start_id_o(start_id)
  );
  (* hierconn *) wire [4:0] \u_front.new_ptr_q ;
  (* hierconn *) wire [4:0] \u_front.done_ptr_q ;

  // Ops in flight: how many, and which have numbers whose accesses go on.
  reg  [4:0]  count = 5'd0;
  reg  [15:0] open = 16'd0;
  wire        enter = rst_n && job_valid && job_ready;
  wire        leave = rst_n && done_valid && done_ready;

  // Descriptors in the queue, the oldest lowest: two bits and the tag of each.
  reg  [1:0]  queued = 2'd0;
  reg  [7:0]  waiting;
  wire [3:0]  entry = {desc[511], desc[0], desc_tag};
  wire        put   = rst_n && desc_valid && desc_ready;
  wire        next  = rst_n && head_valid && head_ready;
  always @(posedge clk) if (rst_n) begin
    queued <= queued + {1'b0, put} - {1'b0, next};
    if (put && queued == {1'b0, next}) waiting[3:0] <= entry;
    else if (put) waiting <= {entry, next ? waiting[7:4] : waiting[3:0]};
    else if (next) waiting <= waiting >> 4;
  end

  // The followed op.
  reg         marked = 1'b0;
  reg  [4:0]  before;                        // ops before it
  wire [3:0]  id = Id;
  reg  [1:0]  tag;
  reg         bad, never, finished, failed;
  reg  [7:0]  its_rule;
  reg  [2:0]  its_code;
  reg  [39:0] its_addr;
  wire        hit_a = err_a.valid && err_a.id == id;
  wire        hit_b = err_b.valid && err_b.id == id;
  wire        hit_c = err_c.valid && err_c.id == id;
  wire [3:0]  fin_a = fin_ids[3:0];
  wire [3:0]  fin_b = fin_ids[7:4];
  wire        ends  = (fin_valid[0] && fin_a == id) || (fin_valid[1] && fin_b == id);

  always @(posedge clk) if (rst_n) begin
    count <= count + {4'd0, enter} - {4'd0, leave};
    if (enter) open[start_id] <= !verdict.idle;
    if (fin_valid[0]) open[fin_a] <= 1'b0;
    if (fin_valid[1]) open[fin_b] <= 1'b0;
    if (!marked && enter && mark && start_id == Id) begin
      marked   <= 1'b1;
      before   <= count - {4'd0, leave};
      tag      <= job_tag;
      bad      <= verdict.bad;
      its_rule <= verdict.rule;
      {never, finished} <= {2{verdict.idle}};
      failed   <= hit_a || hit_b || hit_c;
      its_code <= hit_a ? err_a.status : hit_b ? err_b.status : err_c.status;
      its_addr <= hit_a ? err_a.addr : hit_b ? err_b.addr : err_c.addr;
    end else if (marked) begin
      if (leave && before == 5'd0) marked <= 1'b0;
      else if (leave) before <= before - 5'd1;
      if (ends) finished <= 1'b1;
      if (!failed && (hit_a || hit_b || hit_c)) begin
        failed     <= 1'b1;
        its_code   <= hit_a ? err_a.status : hit_b ? err_b.status : err_c.status;
        its_addr   <= hit_a ? err_a.addr : hit_b ? err_b.addr : err_c.addr;
      end
    end
  end

  reg         held = 1'b0;
  reg  [14:0] held_done;                     // of the address, its ends
  always @(posedge clk) if (rst_n) begin
    held      <= done_valid && !done_ready;
    held_done <= {done_tag, status, rule, addr[39], addr[0]};
  end

  integer     i;
  reg  [15:0] flying;                        // numbers of ops in flight
  wire front = marked && before == 5'd0;     // it is the oldest
  always @* begin
    for (i = 0; i < 16; i = i + 1)
      flying[i] = {1'b0, i[3:0] - \u_front.done_ptr_q [3:0]} < count;
    // Accesses are of ops that have started and not finished; a bad op is idle.
    assume(!fin_valid[0] || open[fin_a]);
    assume(!fin_valid[1] || open[fin_b]);
    assume(!err_a.valid || open[err_a.id]);
    assume(!err_b.valid || open[err_b.id]);
    assume(!err_c.valid || (Entry != 0 ? enter && verdict.idle && err_c.id == start_id
                                       : open[err_c.id]));
    assume(!verdict.bad || verdict.idle);
    if (rst_n) begin
      lemma_count: assert(\u_front.new_ptr_q - \u_front.done_ptr_q == count);
      lemma_flying: assert((open & ~flying) == 16'd0);
      lemma_place: assert(!marked || (before < count
                                      && id == \u_front.done_ptr_q [3:0] + before[3:0]));
      lemma_ended: assert(!done_valid || !open[\u_front.done_ptr_q [3:0]]);
      lemma_open: assert(!marked || open[id] == !finished);
      queue_exact: assert(head_valid == (queued != 2'd0));
      head_kept: assert(!head_valid || {head[511], head[0], head_tag} == waiting[3:0]);
      stable: assert(!held || (done_valid && held_done
                                             == {done_tag, status, rule, addr[39], addr[0]}));
      most: assert(count <= 5'd16);
      not_before_end: assert(!front || done_valid == finished);
      its_tag: assert(!(front && done_valid) || done_tag == tag);
      its_verdict: assert(!(front && done_valid) || rule == (bad ? its_rule : 8'd0));
      its_status: assert(!(front && done_valid) || bad || status == (failed ? its_code : 3'd0));
      bad_status: assert(!(front && done_valid && bad) || status == `PTO_ST_RULE);
      its_address: assert(!(front && done_valid) || bad
                          || {addr[39], addr[0]}
                             == (failed ? {its_addr[39], its_addr[0]} : 2'd0));
      error_seen: assert(!marked || (err[id] == failed
                                     && err_now[id] == (failed || hit_a || hit_b || hit_c)));
      starts: assert(start_valid == (job_valid && !verdict.idle && count != 5'd16));
      job_ready_exact: assert(job_ready == (count != 5'd16 && (verdict.idle || start_ready)));
      idle: assert(busy == (count != 5'd0 || head_valid));
      reach_full: assert(count != 5'd16);
      reach_error: assert(!(front && done_valid && !bad && failed && (never || Entry == 0)));
      reach_two_errors: assert(!(marked && hit_a && hit_b && !failed));
    end
    quiet_in_reset: assert(rst_n || !(desc_ready || head_valid || done_valid || busy));
  end
endmodule

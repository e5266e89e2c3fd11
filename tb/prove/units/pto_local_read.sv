// SPDX-License-Identifier: Apache-2.0
//
// Properties of pto_local_read on words of 2 bytes: the words of a row are requested at their
// addresses, in order and each once; a word of a failed op is made up once no reply is due; a word
// waits only for room, so that no reply finds the queue full, whatever the latency; beats are the
// replies in their order, of which two bits are compared; a failed read is reported with op and address
// of its word, of which one bit each is compared. One grant and one reply are followed.
// Sources: common/pto_local_read.sv common/pto_fifo.sv common/pto_ram.sv
// Bugs: src_req_moves:stable
`include "pto_records.vh"

module prove (
  input wire        clk,
  input wire        row_valid,
  input pto_read_t  row,
  input wire [15:0] failed,                  // ops that had an error
  input wire        gnt,
  input wire        rvalid,
  input wire [15:0] rdata,
  input wire        rerr,
  input wire        beat_ready,
  input wire        mark,                    // follow this grant
  input wire        keep                     // follow this reply
);
  reg rst_n = 1'b0;
  always @(posedge clk) rst_n <= 1'b1;

  wire           row_ready, req, beat_valid;
  wire [2:0]     space;
  wire [19:0]    addr;
  wire [15:0]    beat;
  wire pto_err_t err;
  pto_local_read #(.LocalDataWidth(16), .FifoDepth(4)) u_read (
    .clk_i(clk), .rst_ni(rst_n), .row_valid_i(row_valid), .row_ready_o(row_ready), .row_i(row),
    .err_i(failed), .src_req_o(req), .src_gnt_i(gnt), .src_space_o(space), .src_addr_o(addr),
    .src_rvalid_i(rvalid), .src_rdata_i(rdata), .src_err_i(rerr), .beat_valid_o(beat_valid),
    .beat_ready_i(beat_ready), .beat_o(beat), .err_o(err)
  );
  (* hierconn *) wire [2:0]  \u_read.free_q ;
  (* hierconn *) wire [2:0]  \u_read.flight_q ;
  (* hierconn *) wire        \u_read.active_q ;
  (* hierconn *) wire [3:0]  \u_read.id_q ;
  (* hierconn *) wire [2:0]  \u_read.space_q ;
  (* hierconn *) wire [18:0] \u_read.word_q ;
  (* hierconn *) wire [19:0] \u_read.left_q ;
  (* hierconn *) wire [3:0]  \u_read.req_id_q ;
  (* hierconn *) wire [2:0]  \u_read.u_data.wr_ptr_q ;
  (* hierconn *) wire [2:0]  \u_read.u_data.rd_ptr_q ;
  (* hierconn *) wire [2:0]  \u_read.u_track.wr_ptr_q ;
  (* hierconn *) wire [2:0]  \u_read.u_track.rd_ptr_q ;

  reg [2:0]  due = 3'd0;                     // granted and not answered
  reg [2:0]  queued = 3'd0;                  // answered or made up, and not taken

  // The row in work: its next word, and the words that are not yet requested or made up; the request.
  reg         active = 1'b0;
  reg         asked = 1'b0;
  reg  [3:0]  op, its_op;
  reg  [2:0]  memory, its_memory;
  reg  [18:0] word, its_word;
  reg  [19:0] left;
  wire [20:0] span = {20'd0, row.addr[0]} + {1'b0, row.len} + 21'd1;
  wire        bad  = failed[op];
  wire        free = {1'b0, queued} + due + {3'd0, asked} < 4'd4;
  wire        ask  = active && free && !bad && (!asked || gnt);
  wire        make = active && free && bad && due == 3'd0 && !asked;
  wire        over = !active || ((ask || make) && left == 20'd1);
  always @(posedge clk) if (rst_n) begin
    asked <= ask || (asked && !gnt);
    if (ask) {its_op, its_memory, its_word} <= {op, memory, word};
    if (over) begin
      active <= row_valid;
      op     <= row.id;
      memory <= row.space;
      word   <= row.addr[19:1];
      left   <= span[20:1];
    end else if (ask || make) begin
      word   <= word + 19'd1;
      left   <= left - 20'd1;
    end
  end

  // The followed grant, until its reply.
  reg         granted = 1'b0;
  reg  [2:0]  earlier;                       // replies before its own
  reg  [3:0]  fail_op;
  reg  [18:0] fail_word;
  always @(posedge clk) if (rst_n) begin
    if (!granted && req && gnt && mark) begin
      granted   <= 1'b1;
      earlier   <= due - {2'd0, rvalid};
      fail_op   <= its_op;
      fail_word <= its_word;
    end else if (granted && rvalid) begin
      if (earlier == 3'd0) granted <= 1'b0;
      else earlier <= earlier - 3'd1;
    end
  end

  wire write = rst_n && (rvalid || make);
  wire pop   = rst_n && beat_valid && beat_ready;

  // The followed reply, until it is taken, and the request that waits.
  reg         kept = 1'b0;
  reg  [2:0]  before;                        // beats before it
  reg  [15:0] value;
  reg         held = 1'b0;
  reg  [22:0] held_at;
  always @(posedge clk) if (rst_n) begin
    due     <= due + {2'd0, req && gnt} - {2'd0, rvalid};
    queued  <= queued + {2'd0, write} - {2'd0, pop};
    held    <= req && !gnt;
    held_at <= {space, addr};
    if (!kept && rvalid && keep) begin
      kept   <= 1'b1;
      before <= queued - {2'd0, pop};
      value  <= rdata;
    end else if (kept && pop) begin
      if (before == 3'd0) kept <= 1'b0;
      else before <= before - 3'd1;
    end
  end

  always @* begin
    assume(!rvalid || due != 3'd0);
    assume(!gnt || req);
    assume(row.len != 20'd0);
    if (rst_n) begin
      lemma_step: assert({1'b0, \u_read.free_q } + queued + \u_read.flight_q == 4'd4
                         && \u_read.flight_q == due + {2'd0, asked} && req == asked
                         && \u_read.active_q == active
                         && (!active || (\u_read.left_q == left && \u_read.id_q == op))
                         && \u_read.u_data.wr_ptr_q - \u_read.u_data.rd_ptr_q == queued);
      lemma_row: assert((!active || (\u_read.word_q == word && \u_read.space_q == memory))
                        && (!req || \u_read.req_id_q == its_op));
      lemma_granted: assert(\u_read.u_track.wr_ptr_q - \u_read.u_track.rd_ptr_q == due
                            && (!granted || earlier < due));
      lemma_kept: assert(!kept || before < queued);
      row_ready_exact: assert(row_ready == over);
      req_exact: assert(req == asked);
      stable: assert(!held || (req && held_at == {space, addr}));
      place: assert(!req || {space, addr} == {its_memory, its_word, 1'b0});
      room: assert(!write || queued != 3'd4 || pop);
      never_more_than_room: assert({1'b0, queued} + due <= 4'd4);
      reply_kept: assert(!(kept && before == 3'd0)
                         || (beat_valid && {beat[15], beat[0]} == {value[15], value[0]}));
      beat_exact: assert(beat_valid == (queued != 3'd0));
      err_exact: assert(err.valid == (rvalid && rerr));
      err_of: assert(!(granted && earlier == 3'd0)
                     || (err.id[0] == fail_op[0] && err.addr[1] == fail_word[0]
                         && err.status == `PTO_ST_LOCAL && err.addr[39:20] == 20'd0));
      reach_full: assert(queued != 3'd4);
      reach_made_up: assert(!make);
      reach_two_in_flight: assert(due != 3'd2);
      reach_second_error: assert(!(granted && earlier == 3'd1 && rvalid && rerr));
    end
  end
endmodule

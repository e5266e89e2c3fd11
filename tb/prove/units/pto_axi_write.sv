// SPDX-License-Identifier: Apache-2.0
//
// Properties of pto_axi_write with three bursts in flight: an address stays until it is taken, no
// more bursts are in flight than allowed, the decisions for the data are those of the bursts in their
// order, and an op ends with its last response, once, or, where that burst is dropped, after all
// before it; errors name op and burst of their response. One burst is followed; of its address, two
// bits are compared.
// Sources: common/pto_axi_write.sv common/pto_fifo.sv common/pto_ram.sv
// Bugs: done_before_response:end_needs_cause aw_valid_waits:offered
// Bugs: aw_issue_waits:ready_when_possible
`include "pto_records.vh"

module prove (
  input wire        clk,
  input wire        cmd_valid,
  input wire        drop,
  input wire        joins,
  input pto_burst_t cmd,
  input wire        awready,
  input wire        bvalid,
  input wire [1:0]  bresp,
  input wire        go_ready,
  input wire        mark                     // follow the burst that is issued
);
  reg rst_n = 1'b0;
  always @(posedge clk) rst_n <= 1'b1;

  wire           cmd_ready, awvalid, bready, go_valid, go_drop, go_joins, fin;
  wire [39:0]    awaddr;
  wire [7:0]     awlen;
  wire [3:0]     fin_id;
  wire pto_err_t err;
  pto_axi_write #(.NumOutstanding(3)) u_write (
    .clk_i(clk), .rst_ni(rst_n), .cmd_valid_i(cmd_valid), .cmd_ready_o(cmd_ready),
    .cmd_drop_i(drop), .cmd_joins_i(joins), .cmd_i(cmd), .m_axi_awaddr(awaddr),
    .m_axi_awlen(awlen), .m_axi_awvalid(awvalid), .m_axi_awready(awready), .m_axi_bresp(bresp),
    .m_axi_bvalid(bvalid), .m_axi_bready(bready), .go_valid_o(go_valid), .go_drop_o(go_drop),
    .go_joins_o(go_joins), .go_ready_i(go_ready), .fin_valid_o(fin), .fin_id_o(fin_id),
    .err_o(err)
  );
  (* hierconn *) wire [1:0] \u_write.flight_q ;
  (* hierconn *) wire       \u_write.tail_q ;
  (* hierconn *) wire [2:0] \u_write.u_track.wr_ptr_q ;
  (* hierconn *) wire [2:0] \u_write.u_track.rd_ptr_q ;
  (* hierconn *) wire [1:0] \u_write.u_go.wr_ptr_q ;
  (* hierconn *) wire [1:0] \u_write.u_go.rd_ptr_q ;

  reg [1:0]  flight = 2'd0;                  // bursts issued, without response
  reg        offer = 1'b0;                   // an address is to be offered
  reg        held = 1'b0;
  reg [47:0] aw, held_aw;
  reg [1:0]  undone = 2'd0;                  // bursts whose words are not yet sent or dropped
  reg [3:0]  what;                           // they join, and are dropped; the oldest lowest
  reg        tail = 1'b0;                    // an op that ends without a burst waits for its end
  reg [3:0]  tail_id;
  wire fire  = rst_n && cmd_valid && cmd_ready;
  wire issue = fire && !drop && !cmd.cut;
  wire put   = fire && !cmd.cut;
  wire next  = rst_n && go_valid && go_ready;
  wire answer = rst_n && bvalid && bready;
  wire tail_ends = tail && flight == 2'd0 && undone == 2'd0;

  always @(posedge clk) if (rst_n) begin
    flight  <= flight + {1'b0, issue} - {1'b0, answer};
    held    <= awvalid && !awready;
    held_aw <= {awaddr, awlen};
    offer   <= issue || (offer && !awready);
    if (issue) aw <= {cmd.addr, cmd.beats[7:0] - 8'd1};
    undone  <= undone + {1'b0, put} - {1'b0, next};
    if (put && undone == {1'b0, next}) what <= {what[3:2], joins, drop};
    else if (put) what <= {joins, drop, next ? what[3:2] : what[1:0]};
    else if (next) what <= what >> 2;
    if (fire && (drop || cmd.cut) && cmd.last) {tail, tail_id} <= {1'b1, cmd.id};
    else if (tail_ends) tail <= 1'b0;
  end

  // The followed burst.
  reg        marked = 1'b0;
  reg [1:0]  before;                         // responses before its own
  reg        its_last;
  reg [3:0]  its_id;
  reg [1:0]  its_addr;                       // two bits of it
  wire       oldest = marked && before == 2'd0;
  always @(posedge clk) if (rst_n) begin
    if (!marked && issue && mark) begin
      marked <= 1'b1;
      before <= flight - {1'b0, answer};
      {its_last, its_id, its_addr} <= {cmd.last, cmd.id, cmd.addr[39], cmd.addr[0]};
    end else if (marked && answer) begin
      if (oldest) marked <= 1'b0;
      before <= before - 2'd1;
    end
  end

  always @* begin
    // A response follows its address.
    assume(!bvalid || flight > {1'b0, awvalid && !awready});
    if (rst_n) begin
      lemma_flight: assert(\u_write.flight_q == flight);
      lemma_tail: assert(\u_write.tail_q == tail);
      lemma_track: assert({1'b0, flight} == \u_write.u_track.wr_ptr_q - \u_write.u_track.rd_ptr_q );
      lemma_go: assert(undone == \u_write.u_go.wr_ptr_q - \u_write.u_go.rd_ptr_q
                       && undone <= 2'd2);
      lemma_before: assert(!marked || before < flight);
      offered: assert(awvalid == offer);
      stable: assert(!held || (awvalid && held_aw == {awaddr, awlen}));
      address: assert(!awvalid || {awaddr, awlen} == aw);
      limit: assert(!issue || flight != 2'd3 || bvalid);
      ready_when_possible: assert(cmd_ready
                                  == (undone != 2'd2 && !tail
                                      && (drop || cmd.cut
                                          || ((!awvalid || awready) && (flight != 2'd3 || bvalid)))));
      decided: assert(go_valid == (undone != 2'd0));
      decision: assert(!go_valid || {go_joins, go_drop} == what[1:0]);
      response_taken: assert(bready);
      error_is_response: assert(err.valid == (bvalid && bresp[1]));
      error_code: assert(!err.valid || err.status == (bresp[0] ? `PTO_ST_WR_DECERR
                                                               : `PTO_ST_WR_SLVERR));
      error_burst: assert(!oldest || {err.id, err.addr[39], err.addr[0]} == {its_id, its_addr});
      end_needs_cause: assert(!fin || bvalid || flight == 2'd0);
      end_exact: assert(!oldest || fin == (bvalid && its_last));
      dropped_end_exact: assert(flight != 2'd0 || fin == tail_ends);
      end_of_op: assert(!fin || (tail_ends ? fin_id == tail_id : !oldest || fin_id == its_id));
      reach_limit: assert(flight != 2'd3);
      reach_end: assert(!fin);
      reach_dropped_end: assert(!tail_ends);
      reach_end_of_third: assert(!(oldest && its_last && fin && flight == 2'd3));
    end
  end
endmodule

// SPDX-License-Identifier: Apache-2.0
//
// Properties of pto_axi_read on words of 2 bytes with a queue of 4: an address stays until it is
// taken, no more bursts are in flight than allowed, every beat of one finds room, and the beats of
// commands leave in the order of the commands, each once and unchanged, made-up ones among them. An
// error is reported with the op and the address of its beat. One beat of a command is followed; of
// its data and of the address of its burst, some bits are compared.
// Sources: common/pto_axi_read.sv common/pto_fifo.sv common/pto_ram.sv
// Bugs: read_outstanding_unlimited:limit read_room_leaks:ready_when_possible arvalid_falls:stable
// Bugs: ar_valid_waits:offered read_slverr_lost:error_exact read_error_last_beat_only:error_exact
// Bugs: read_error_address:error_place made_beats_overtake:not_before_it_came
// Bugs: one_read_burst_in_flight:ready_when_possible bubble_after_read_burst:ready_when_possible
`include "pto_records.vh"

module prove (
  input wire        clk,
  input wire        cmd_valid,
  input wire        drop,
  input pto_burst_t cmd,
  input wire        arready,
  input wire [15:0] rdata,
  input wire [1:0]  rresp,
  input wire        rvalid,
  input wire        beat_ready,
  input wire        mark,                    // follow a beat of this command:
  input wire [1:0]  offset                   // the number of that beat
);
  reg rst_n = 1'b0;
  always @(posedge clk) rst_n <= 1'b1;

  wire           cmd_ready, arvalid, rready, rlast, beat_valid;
  wire [39:0]    araddr;
  wire [7:0]     arlen;
  wire [15:0]    beat;
  wire pto_err_t err;
  pto_axi_read #(.GmDataWidth(16), .NumOutstanding(3), .FifoDepth(4)) u_read (
    .clk_i(clk), .rst_ni(rst_n), .cmd_valid_i(cmd_valid), .cmd_ready_o(cmd_ready),
    .cmd_drop_i(drop), .cmd_i(cmd), .m_axi_araddr(araddr), .m_axi_arlen(arlen),
    .m_axi_arvalid(arvalid), .m_axi_arready(arready), .m_axi_rdata(rdata), .m_axi_rresp(rresp),
    .m_axi_rlast(rlast), .m_axi_rvalid(rvalid), .m_axi_rready(rready), .beat_valid_o(beat_valid),
    .beat_ready_i(beat_ready), .beat_o(beat), .err_o(err)
  );
  (* hierconn *) wire [2:0] \u_read.free_q ;
  (* hierconn *) wire [1:0] \u_read.flight_q ;
  (* hierconn *) wire [8:0] \u_read.made_q ;
  (* hierconn *) wire [7:0] \u_read.beat_index_q ;
  (* hierconn *) wire [39:0] \u_read.burst_addr ;
  (* hierconn *) wire [2:0] \u_read.u_data.wr_ptr_q ;
  (* hierconn *) wire [2:0] \u_read.u_data.rd_ptr_q ;
  (* hierconn *) wire [2:0] \u_read.u_track.wr_ptr_q ;
  (* hierconn *) wire [2:0] \u_read.u_track.rd_ptr_q ;

  // Bursts without their last beat, with their beats, the oldest lowest; beats of the oldest that
  // came; beats made up and still to be queued; beats in the queue.
  reg  [2:0]  flight = 3'd0;
  reg  [8:0]  beats = 9'd0;
  reg  [2:0]  came = 3'd0;
  reg  [2:0]  made = 3'd0;
  reg  [2:0]  queued = 3'd0;
  wire [4:0]  due  = {2'd0, beats[2:0]} + {2'd0, beats[5:3]} + {2'd0, beats[8:6]} - {2'd0, came};
  wire [4:0]  owed = due + {2'd0, made} + {2'd0, queued};     // of all commands taken
  wire        fire  = rst_n && cmd_valid && cmd_ready;
  wire        issue = fire && !drop;
  wire        read  = rst_n && rvalid && rready;
  wire        final_beat = read && rlast;
  wire        make  = made != 3'd0;
  wire        pop   = rst_n && beat_valid && beat_ready;
  wire [2:0]  place = flight - {2'd0, final_beat};
  wire [8:0]  kept  = final_beat ? {3'd0, beats[8:3]} : beats;
  assign rlast = came + 3'd1 == beats[2:0];

  always @(posedge clk) if (rst_n) begin
    flight <= place + {2'd0, issue};
    came   <= final_beat ? 3'd0 : came + {2'd0, read};
    made   <= fire && drop ? cmd.beats[2:0] : made - {2'd0, make};
    queued <= queued + {2'd0, read || make} - {2'd0, pop};
    beats  <= kept;
    if (issue)
      case (place)
        3'd0:    beats[2:0] <= cmd.beats[2:0];
        3'd1:    beats[5:3] <= cmd.beats[2:0];
        default: beats[8:6] <= cmd.beats[2:0];
      endcase
  end

  reg         held = 1'b0;
  reg         offer = 1'b0;                  // an address is to be offered
  reg  [47:0] ar, held_ar;
  always @(posedge clk) if (rst_n) begin
    held    <= arvalid && !arready;
    held_ar <= {araddr, arlen};
    offer   <= issue || (offer && !arready);
    if (issue) ar <= {cmd.addr, cmd.beats[7:0] - 8'd1};
  end

  // The followed beat.
  reg         marked = 1'b0;
  reg         real_one, there;               // it comes from the bus; it came
  reg  [2:0]  before;                        // beats that leave before it
  reg  [2:0]  until_it;                      // beats that come before it
  reg  [1:0]  bursts;                        // bursts that end before its own
  reg  [1:0]  number;
  reg  [3:0]  id;
  reg  [39:0] addr;
  reg  [15:0] value;
  wire        comes = marked && !there && until_it == 3'd0 && (real_one ? read : make);
  wire        oldest = marked && real_one && !there && bursts == 2'd0;
  always @(posedge clk) if (rst_n) begin
    if (!marked && fire && mark) begin
      marked   <= 1'b1;
      real_one <= !drop;
      there    <= 1'b0;
      before   <= owed[2:0] - {2'd0, pop} + {1'b0, offset};
      until_it <= due[2:0] - {2'd0, read} + {1'b0, offset};
      bursts   <= place[1:0];
      number   <= offset;
      id       <= cmd.id;
      addr     <= cmd.addr;
    end else if (marked) begin
      if (pop && before == 3'd0) marked <= 1'b0;
      else if (pop) before <= before - 3'd1;
      if (comes) {there, value} <= {1'b1, rdata};
      else if (!there && (real_one ? read : make)) until_it <= until_it - 3'd1;
      if (final_beat && bursts != 2'd0) bursts <= bursts - 2'd1;
    end
  end

  always @* begin
    // A burst has 1 to 4 beats. A beat follows its address.
    assume(cmd.beats >= 9'd1 && cmd.beats <= 9'd4);
    assume(!mark || {7'd0, offset} < cmd.beats);
    assume(!rvalid || flight > {2'd0, arvalid && !arready});
    if (rst_n) begin
      lemma_flight: assert({1'b0, \u_read.flight_q } == flight && flight <= 3'd3);
      lemma_beats: assert((beats[2:0] != 3'd0) == (flight > 3'd0)
                          && (beats[5:3] != 3'd0) == (flight > 3'd1)
                          && (beats[8:6] != 3'd0) == (flight > 3'd2)
                          && beats[2:0] <= 3'd4 && beats[5:3] <= 3'd4 && beats[8:6] <= 3'd4
                          && (came == 3'd0 || came < beats[2:0]));
      lemma_made: assert(\u_read.made_q == {6'd0, made} && (made == 3'd0 || flight == 3'd0));
      lemma_queue: assert(\u_read.u_data.wr_ptr_q - \u_read.u_data.rd_ptr_q == queued);
      lemma_room: assert({2'd0, \u_read.free_q } + owed == 5'd4);
      lemma_track: assert(\u_read.u_track.wr_ptr_q - \u_read.u_track.rd_ptr_q == flight
                          && \u_read.beat_index_q == {5'd0, came});
      lemma_offer: assert(!offer || flight != 3'd0);
      lemma_before: assert(!marked || (before < owed[2:0] && there == (before < queued)
                                       && (there || before == queued + until_it)
                                       && (there || real_one || flight == 3'd0)));
      lemma_burst: assert(!marked || !real_one || there
                          || (bursts < flight && {3'd0, until_it} + {3'd0, came}
                              == {4'd0, number} + (bursts > 2'd0 ? {3'd0, beats[2:0]} : 6'd0)
                              + (bursts > 2'd1 ? {3'd0, beats[5:3]} : 6'd0)));
      stable: assert(!held || (arvalid && held_ar == {araddr, arlen}));
      offered: assert(arvalid == offer);
      address: assert(!arvalid || {araddr, arlen} == ar);
      limit: assert(flight <= 3'd3);
      beat_taken: assert(rready);
      room: assert(owed <= 5'd4);
      ready_when_possible: assert(cmd_ready
                                  == ({4'd0, owed} + cmd.beats <= 9'd4 && made == 3'd0
                                      && (drop ? flight == 3'd0
                                          : (!arvalid || arready)
                                            && (flight != 3'd3 || final_beat))));
      beats_exact: assert(beat_valid == (queued != 3'd0));
      not_before_it_came: assert(!(marked && before == 3'd0 && beat_valid) || there);
      beat_kept: assert(!(marked && before == 3'd0 && there && real_one)
                        || (beat_valid && {beat[15], beat[0]} == {value[15], value[0]}));
      error_exact: assert(err.valid == (rvalid && rresp[1]));
      error_code: assert(!err.valid || err.status == (rresp[0] ? `PTO_ST_RD_DECERR
                                                               : `PTO_ST_RD_SLVERR));
      error_op: assert(!comes || !real_one || err.id == id);
      error_burst: assert(!oldest || {\u_read.burst_addr [39], \u_read.burst_addr [3:0]}
                                     == {addr[39], addr[3:0]});
      error_place: assert(!comes || !real_one
                          || err.addr == \u_read.burst_addr + {37'd0, number, 1'b0});
      reach_limit: assert(flight != 3'd3);
      reach_full: assert(queued != 3'd4);
      reach_made_up_leaves: assert(!(marked && !real_one && there && before == 3'd0 && pop));
      reach_last_of_four: assert(!(marked && real_one && number == 2'd3 && before == 3'd0 && pop));
      reach_error_of_third: assert(!(comes && number == 2'd2 && err.valid));
    end
  end
endmodule

// SPDX-License-Identifier: Apache-2.0
//
// Properties of pto_local_read on words of 2 bytes: a request stays until it is granted, the words
// of a row are requested in order and each once, no reply finds the queue full, whatever the latency,
// and beats are the replies in their order, of which two bits are compared.
// Sources: common/pto_local_read.sv common/pto_fifo.sv common/pto_ram.sv
// Bugs: src_req_moves:stable
`include "pto_records.vh"

module prove (
  input wire        clk,
  input wire        row_valid,
  input pto_read_t  row,
  input wire        failed,                  // the op of the row in work had an error
  input wire        gnt,
  input wire        rvalid,
  input wire [15:0] rdata,
  input wire        beat_ready,
  input wire        mark                     // follow this reply
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
    .err_i({16{failed}}), .src_req_o(req), .src_gnt_i(gnt), .src_space_o(space), .src_addr_o(addr),
    .src_rvalid_i(rvalid), .src_rdata_i(rdata), .src_err_i(1'b0), .beat_valid_o(beat_valid),
    .beat_ready_i(beat_ready), .beat_o(beat), .err_o(err)
  );
  (* hierconn *) wire [2:0]  \u_read.free_q ;
  (* hierconn *) wire [2:0]  \u_read.flight_q ;
  (* hierconn *) wire        \u_read.make ;
  (* hierconn *) wire [2:0]  \u_read.u_data.wr_ptr_q ;
  (* hierconn *) wire [2:0]  \u_read.u_data.rd_ptr_q ;

  reg [2:0]  due = 3'd0;                     // granted and not answered
  reg [2:0]  queued = 3'd0;                  // answered or made up, and not taken
  reg        fails = 1'b0;                   // an op stays failed until its row is over
  reg        held = 1'b0;
  reg [22:0] held_at;
  reg        marked = 1'b0;
  reg [2:0]  before;
  reg [15:0] value;
  wire write = rst_n && (rvalid || \u_read.make );
  wire pop   = rst_n && beat_valid && beat_ready;

  always @(posedge clk) if (rst_n) begin
    due     <= due + {2'd0, req && gnt} - {2'd0, rvalid};
    queued  <= queued + {2'd0, write} - {2'd0, pop};
    fails   <= failed && !row_ready;
    held    <= req && !gnt;
    held_at <= {space, addr};
    if (!marked && rvalid && mark) begin
      marked <= 1'b1;
      before <= queued - {2'd0, pop};
      value  <= rdata;
    end else if (marked && pop) begin
      if (before == 3'd0) marked <= 1'b0;
      else before <= before - 3'd1;
    end
  end

  always @* begin
    assume(!rvalid || due != 3'd0);
    assume(!gnt || req);
    assume(row.len != 20'd0);
    assume(!fails || failed);
    if (rst_n) begin
      lemma_room: assert({1'b0, \u_read.free_q } + queued + \u_read.flight_q == 4'd4);
      lemma_flight: assert(\u_read.flight_q == due + {2'd0, req});
      lemma_queue: assert(\u_read.u_data.wr_ptr_q - \u_read.u_data.rd_ptr_q == queued);
      lemma_mark: assert(!marked || before < queued);
      stable: assert(!held || (req && held_at == {space, addr}));
      room: assert(!write || queued != 3'd4 || pop);
      never_more_than_room: assert({1'b0, queued} + due <= 4'd4);
      reply_kept: assert(!(marked && before == 3'd0)
                         || (beat_valid && {beat[15], beat[0]} == {value[15], value[0]}));
      aligned: assert(!addr[0]);
      reach_full: assert(queued != 3'd4);
      reach_made_up: assert(!\u_read.make );
      reach_two_in_flight: assert(due != 3'd2);
    end
  end
endmodule

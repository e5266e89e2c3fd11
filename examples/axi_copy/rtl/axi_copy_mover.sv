// SPDX-License-Identifier: Apache-2.0
// Takes the beats of one chunk after the other from the buffer, shifts them to the lanes of the
// destination and writes them, one burst a chunk. One beat a clock, one clock between chunks.
//
// Every beat is rotated by the distance of the lanes. Lanes below the distance then belong one
// word later than the others, so a word is made of the rotated beat before and this one:
//
//   source      ..012345 6789....        lane 2 to lane 5: distance 3
//   rotated     3452..01 9....678        (digits are bytes, lane 0 on the left, words of 8)
//   written     .....012 3456789.
//
// Where the destination has the lower lane the first beat is only kept (`prime`).
// A chunk that starts while `stop` is high is discarded: its beats come, its burst is not written.
// From a bad beat on no byte of its chunk is enabled.
module axi_copy_mover #(
  parameter int AddrWidth = 40,
  parameter int DataWidth = 256,
  parameter int ChunkBits = 13       // of the length of a chunk
) (
  input  logic                   clk,
  input  logic                   rst_n,
  input  logic                   stop,
  // chunks, in order
  input  logic                   chunk_valid,
  output logic                   chunk_take,
  input  logic                   chunk_skip,
  input  logic                   chunk_last,
  input  logic [AddrWidth-1:0]   chunk_src,
  input  logic [AddrWidth-1:0]   chunk_dst,
  input  logic [ChunkBits-1:0]   chunk_len,
  // beats read
  input  logic                   beat_valid,
  output logic                   beat_take,
  input  logic [1:0]             beat_resp,
  input  logic [DataWidth-1:0]   beat_data,
  // burst written
  input  logic                   may_write,   // one more burst may be in flight
  output logic                   aw_start,    // a burst is offered from the next clock on
  output logic                   awvalid,
  input  logic                   awready,
  output logic [AddrWidth-1:0]   awaddr,
  output logic [7:0]             awlen,
  output logic                   wvalid,
  input  logic                   wready,
  output logic [DataWidth-1:0]   wdata,
  output logic [DataWidth/8-1:0] wstrb,
  output logic                   wlast,
  // result of a chunk, with its last beat
  output logic                   end_valid,
  input  logic                   end_room,
  output logic                   end_last,    // of its command
  output logic                   end_wrote,   // a response will come
  output logic [2:0]             end_code,
  output logic [AddrWidth-1:0]   end_addr     // of the burst of `end_code`
);
  localparam int Bytes = DataWidth / 8;
  localparam int Lane  = $clog2(Bytes);
  localparam int Beats = ChunkBits - Lane + 1;   // bits of a number of beats

  localparam logic [2:0] CodeOk = 3'd0, CodeReadSlave = 3'd1, CodeReadDecode = 3'd2,
                         CodeAborted = 3'd5;

  typedef enum logic [1:0] {Idle, Move, Drain} state_t;
  state_t state;

  function automatic logic [Beats-1:0] beats_of(input logic [Lane-1:0] lane,
                                                input logic [ChunkBits-1:0] len);
    logic [ChunkBits:0] sum;
    sum = {1'b0, len} + (ChunkBits+1)'(lane) + (ChunkBits+1)'(Bytes - 1);
    beats_of = sum[ChunkBits:Lane];
  endfunction

  logic [AddrWidth-1:0] src_burst, dst_burst;
  logic [Beats-1:0]     in_left, out_left;
  logic [Lane-1:0]      shift, first_lane, last_lane;
  logic                 prime, first, last;
  logic [2:0]           code;
  logic [DataWidth-1:0] held;

  // --- the current word ---
  logic [2*DataWidth-1:0] twice;
  logic [DataWidth-1:0]   rotated, word;
  logic [Bytes-1:0]       enables;
  assign twice   = {beat_data, beat_data} << {shift, 3'b000};
  assign rotated = twice[2*DataWidth-1:DataWidth];
  for (genvar k = 0; k < Bytes; k++) begin : g_lane
    assign word[8*k+:8] = (Lane'(k) < shift) ? held[8*k+:8] : rotated[8*k+:8];
    assign enables[k] = !(first && Lane'(k) < first_lane) &&
                        !(out_left == Beats'(1) && Lane'(k) > last_lane);
  end

  // --- events of this clock ---
  logic start, finish, want_beat, send, bad_beat;
  logic [2:0] code_now;
  assign start     = state == Idle && chunk_valid && end_room &&
                     (chunk_skip || (beat_valid && may_write && !awvalid));
  assign aw_start  = start && !chunk_skip && !stop;
  assign want_beat = state == Drain || (state == Move && (prime || in_left != '0));
  assign send      = state == Move && !prime && (!wvalid || wready) &&
                     (in_left == '0 || beat_valid);
  assign beat_take = beat_valid && want_beat && (state == Drain || prime || send);
  assign finish    = (send && out_left == Beats'(1)) ||
                     (state == Drain && beat_take && in_left == Beats'(1));
  assign bad_beat  = beat_take && beat_resp[1];
  assign code_now  = (code != CodeOk) ? code
                   : !bad_beat ? CodeOk : beat_resp[0] ? CodeReadDecode : CodeReadSlave;
  assign chunk_take = start;

  assign end_valid = finish || (start && chunk_skip);
  assign end_last  = (state == Idle) ? chunk_last : last;
  assign end_wrote = state == Move;
  assign end_code  = (state != Idle && code_now != CodeOk) ? code_now
                   : (state == Move) ? CodeOk
                   : (state == Drain || stop) ? CodeAborted : CodeOk;
  assign end_addr  = (code_now != CodeOk) ? src_burst : dst_burst;

  always_ff @(posedge clk or negedge rst_n)
    if (!rst_n) begin
      state   <= Idle;
      awvalid <= 1'b0;
      wvalid  <= 1'b0;
    end else begin
      if (start && !chunk_skip) state <= stop ? Drain : Move;
      else if (finish)          state <= Idle;
      if (aw_start)     awvalid <= 1'b1;
      else if (awready) awvalid <= 1'b0;
      if (send)         wvalid <= 1'b1;
      else if (wready)  wvalid <= 1'b0;
    end

  always_ff @(posedge clk)
    if (start) begin
      src_burst  <= {chunk_src[AddrWidth-1:Lane], {Lane{1'b0}}};
      dst_burst  <= {chunk_dst[AddrWidth-1:Lane], {Lane{1'b0}}};
      in_left    <= beats_of(chunk_src[Lane-1:0], chunk_len);
      out_left   <= beats_of(chunk_dst[Lane-1:0], chunk_len);
      shift      <= chunk_dst[Lane-1:0] - chunk_src[Lane-1:0];
      first_lane <= chunk_dst[Lane-1:0];
      last_lane  <= chunk_dst[Lane-1:0] + chunk_len[Lane-1:0] - 1'b1;
      prime      <= chunk_dst[Lane-1:0] < chunk_src[Lane-1:0];
      first      <= 1'b1;
      last       <= chunk_last;
      code       <= CodeOk;
    end else begin
      code <= code_now;
      if (beat_take) begin
        in_left <= in_left - 1'b1;
        held    <= rotated;
        prime   <= 1'b0;
      end
      if (send) begin
        out_left <= out_left - 1'b1;
        first    <= 1'b0;
      end
    end

  logic [Beats-1:0] write_beats;
  assign write_beats = beats_of(chunk_dst[Lane-1:0], chunk_len) - 1'b1;

  always_ff @(posedge clk) begin
    if (aw_start) begin
      awaddr <= {chunk_dst[AddrWidth-1:Lane], {Lane{1'b0}}};
      awlen  <= 8'(write_beats);
    end
    if (send) begin
      wdata <= word;
      wstrb <= (code_now == CodeOk) ? enables : '0;
      wlast <= out_left == Beats'(1);
    end
  end
endmodule

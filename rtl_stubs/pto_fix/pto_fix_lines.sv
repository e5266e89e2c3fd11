// SPDX-License-Identifier: Apache-2.0
//
// Moves chunks of bytes to the lanes of their destination and merges them into lines, aligned
// pieces of 64 bytes of the destination. A run of contiguous bytes consists of whole chunks and
// starts a new line. Bytes of a line outside its run are not defined.
// Throughput: one chunk per clock. A chunk can finish two lines (its own and the tail of the run);
// a ring of four takes both, so no clock is lost between runs. Latency: chunk to line one clock.
// Spec: fixpipe.md section 2.
//
//   clk          _/~\_/~\_/~\_/~\_
//   chunk_valid  _/~~~~~~~\_______      run of two chunks of 32 bytes from lane 16 on
//   line_valid   _________/~~~~~~~      both lines are complete with the second chunk
`default_nettype none

module pto_fix_lines (
  input  wire         clk_i,         // clock
  input  wire         rst_ni,        // asynchronous reset, active low
  input  wire         run_valid_i,   // a run is there
  output wire         run_ready_o,   // it is taken
  input  wire [5:0]   run_lane_i,    // lane of its first byte in its first line
  input  wire [26:0]  run_len_i,     // bytes, at least 1
  input  wire         run_gm_i,      // goes with its lines
  input  wire         chunk_valid_i, // a chunk is there
  output wire         chunk_ready_o, // it is taken
  input  wire [511:0] chunk_i,       // its bytes
  input  wire [6:0]   chunk_bytes_i, // those that count, 1 to 64
  output wire         line_valid_o,  // a line is complete
  input  wire         line_ready_i,  // it is taken
  output wire [511:0] line_o,        // the line
  output wire         line_gm_o      // run_gm_i of its run
);
  reg        active_q;
  reg        gm_q;
  reg [26:0] left_q;                         // bytes of the run still to come
  reg [5:0]  lane_q;                         // line lane of the first of them

  reg [511:0] part_q;                 // the line being filled
  reg [511:0] ring_q [0:3];
  reg [3:0]   ring_gm_q;
  reg [2:0]   wr_ptr_q;
  reg [2:0]   rd_ptr_q;

  wire [2:0] filled = wr_ptr_q - rd_ptr_q;
  wire       room   = active_q && filled <= 3'd2;                // for two lines
  wire       take   = room && chunk_valid_i;
  wire       last   = left_q == {20'd0, chunk_bytes_i};
  wire [7:0] reach  = {2'd0, lane_q} + {1'b0, chunk_bytes_i};
  wire       passes = |reach[7:6];                               // reaches the end of its line
  wire       over   = reach > 8'd64;
  wire [1:0] lines  = last ? (over ? 2'd2 : 2'd1) : {1'b0, passes};
  wire [1:0] wr_next = wr_ptr_q[1:0] + 2'd1;

  assign chunk_ready_o = room;
  assign run_ready_o   = !active_q || (take && last);
  assign line_valid_o  = filled != 3'd0;
  assign line_o        = ring_q[rd_ptr_q[1:0]];
  assign line_gm_o     = ring_gm_q[rd_ptr_q[1:0]];

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      active_q <= 1'b0;
      wr_ptr_q <= 3'd0;
      rd_ptr_q <= 3'd0;
    end else begin
      if (run_ready_o) active_q <= run_valid_i;
      if (take) wr_ptr_q <= wr_ptr_q + {1'b0, lines};
      if (line_valid_o && line_ready_i) rd_ptr_q <= rd_ptr_q + 3'd1;
    end
  end

  function [511:0] low_part;          // the bytes in the line being filled, over those there
    input [511:0] part;
    input [511:0] chunk;
    input [5:0]   lane;
    reg [511:0] fresh;
    begin
      fresh    = {512{1'b1}} << {lane, 3'd0};
      low_part = (part & ~fresh) | (chunk << {lane, 3'd0});
    end
  endfunction

  always @(posedge clk_i) begin
    if (run_ready_o) begin
      if (run_valid_i) begin
        gm_q   <= run_gm_i;
        left_q <= run_len_i;
        lane_q <= run_lane_i;
      end
    end else if (take) begin
      left_q <= left_q - {20'd0, chunk_bytes_i};
      lane_q <= reach[5:0];
    end
    if (take) begin
      // Writes where the pointer does not move on are harmless: the words are free.
      if (passes || last) begin
        ring_q[wr_ptr_q[1:0]]    <= low_part(part_q, chunk_i, lane_q);
        ring_gm_q[wr_ptr_q[1:0]] <= gm_q;
      end
      if (last && over) begin
        ring_q[wr_next]    <= chunk_i >> (10'd512 - {1'b0, lane_q, 3'd0});
        ring_gm_q[wr_next] <= gm_q;
      end
      if (!last)
        part_q <= passes ? chunk_i >> (10'd512 - {1'b0, lane_q, 3'd0})
                         : low_part(part_q, chunk_i, lane_q);
    end
  end
endmodule

`default_nettype wire

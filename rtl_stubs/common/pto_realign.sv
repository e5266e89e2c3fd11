// SPDX-License-Identifier: Apache-2.0
//
// Moves the bytes of rows from the lanes of their source words to the lanes of their destination.
// Source beats are rotated by the constant (destination - source lane) of the row and merged into
// lines: aligned pieces of the destination as wide as the wider of the two sides. Every row
// starts a new line; bytes of a line outside the row are not defined.
// Throughput: one beat per clock, whatever the lanes. A beat can finish two lines (its own and
// the tail of the row); a ring of four lines takes both, so no clock is lost between rows.
// Latency: beat to line one clock. Limits: SrcBytes and DstBytes are 16, 32 or 64.
// Spec: dma.md section 2.
//
//   clk         _/~\_/~\_/~\_/~\_
//   beat_valid  _/~~~~~~~\_______     row of two beats that touches two lines
//   line_valid  _________/~~~~~~~     rotated: the first line needs both beats
`default_nettype none
`include "pto_records.vh"

module pto_realign #(
  parameter integer SrcBytes  = 32,          // bytes of a source beat
  parameter integer LineBytes = 32           // bytes of a line: the wider side
) (
  input  wire                   clk_i,        // clock
  input  wire                   rst_ni,       // asynchronous reset, active low
  input  wire                   row_valid_i,  // a row is there
  output wire                   row_ready_o,  // it is taken
  input  wire pto_lanes_t       row_i,        // the row
  input  wire                   beat_valid_i, // a source beat is there
  output wire                   beat_ready_o, // it is taken
  input  wire [8*SrcBytes-1:0]  beat_i,       // the beat
  output wire                   line_valid_o, // a line is complete
  input  wire                   line_ready_i, // it is taken
  output wire [8*LineBytes-1:0] line_o        // the line
);
  localparam integer SrcLaneBits  = $clog2(SrcBytes);
  localparam integer LineLaneBits = $clog2(LineBytes);
  localparam integer LineBits     = 8 * LineBytes;
  localparam [6:0]   SRC_BYTES    = SrcBytes[6:0];
  localparam [7:0]   LINE_BYTES   = LineBytes[7:0];

  // ---- the current row ----
  reg                    active_q;
  reg [19:0]             left_q;             // bytes of the row still to come
  reg [6:0]              avail_q;            // row bytes the next beat can hold
  reg [LineLaneBits-1:0] lane_q;             // line lane of the first of them
  reg [SrcLaneBits-1:0]  rotate_q;           // towards higher lanes

  reg [LineBits-1:0] part_q;                 // the line being filled
  reg [LineBits-1:0] ring_q [0:3];
  reg [2:0]          wr_ptr_q;
  reg [2:0]          rd_ptr_q;

  wire [2:0] filled = wr_ptr_q - rd_ptr_q;
  wire       take   = active_q && beat_valid_i && filled <= 3'd2;   // room for two lines
  wire       last   = left_q <= {13'd0, avail_q};
  wire [7:0] reach  = {{(8 - LineLaneBits){1'b0}}, lane_q} + {1'b0, avail_q};
  wire [7:0] finish = {{(8 - LineLaneBits){1'b0}}, lane_q} + {1'b0, left_q[6:0]};
  wire       passes = reach >= LINE_BYTES;   // this beat reaches the end of its line
  wire [1:0] lines  = last ? ((finish > LINE_BYTES) ? 2'd2 : 2'd1) : {1'b0, passes};

  assign beat_ready_o = active_q && filled <= 3'd2;
  assign row_ready_o  = !active_q || (take && last);
  assign line_valid_o = filled != 3'd0;
  assign line_o       = ring_q[rd_ptr_q[1:0]];

  // ---- data: rotate, keep what is below the lane ----
  wire [8*SrcBytes-1:0] turned;
  pto_rotate #(
    .Lanes(SrcBytes)
  ) u_rotate (
    .value_i (beat_i),
    .by_i    (rotate_q),
    .value_o (turned)
  );

  wire [LineBits-1:0]   moved  = {(LineBytes / SrcBytes){turned}};
  wire [LineLaneBits:0] below  = LINE_BYTES[LineLaneBits:0] - {1'b0, lane_q};
  wire [2*LineBits-1:0] edges  = {{LineBits{1'b1}}, {LineBits{1'b0}}};   // selected: see pto_rotate
  wire [LineBits-1:0]   fresh  = edges[{below, 3'b000} +: LineBits];
  wire [LineBits-1:0]   merged = (part_q & ~fresh) | (moved & fresh);

  wire [1:0] wr_next = wr_ptr_q[1:0] + 2'd1;

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      active_q <= 1'b0;
      wr_ptr_q <= 3'd0;
      rd_ptr_q <= 3'd0;
    end else begin
      if (row_ready_o) active_q <= row_valid_i;
      if (take) wr_ptr_q <= wr_ptr_q + {1'b0, lines};
      if (line_valid_o && line_ready_i) rd_ptr_q <= rd_ptr_q + 3'd1;
    end
  end

  always @(posedge clk_i) begin
    if (row_ready_o) begin
      left_q   <= row_i.len;
      avail_q  <= SRC_BYTES - {{(7 - SrcLaneBits){1'b0}}, row_i.src[SrcLaneBits-1:0]};
      lane_q   <= row_i.dst[LineLaneBits-1:0];
      rotate_q <= row_i.dst[SrcLaneBits-1:0] - row_i.src[SrcLaneBits-1:0];
    end else if (take) begin
      left_q  <= left_q - {13'd0, avail_q};
      avail_q <= SRC_BYTES;
      lane_q  <= reach[LineLaneBits-1:0];
    end
    if (take) begin
      ring_q[wr_ptr_q[1:0]] <= merged;       // harmless without a line: the word is free
      if (lines[1]) ring_q[wr_next] <= moved;
      part_q                <= passes ? moved : merged;
    end
  end
endmodule

`default_nettype wire

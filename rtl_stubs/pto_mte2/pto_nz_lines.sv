// SPDX-License-Identifier: Apache-2.0
//
// Cuts the stream of GM beats into source rows and each row into lines of 32 bytes that begin at
// lane 0; bytes of the last line beyond the row are 0. A row that begins in the last word of the
// row before (share) shares it: that word is read once.
// Throughput: one line per clock (on a 128-bit bus every second clock), or one beat per clock
// where a row has more beats than lines. Latency: beat to line one clock.
// A mere end of an op takes no beat and becomes a line. Spec: nd2nz.md 2; docs/contract.md, errors.
//
//   clk         _/~\_/~\_/~\_/~\_
//   beat_valid  _/~~~~~~~\_______     row of two beats and one line
//   line_valid  _________/~~~\___
`default_nettype none
`include "pto_records.vh"

module pto_nz_lines #(
  parameter integer GmBytes = 32             // bytes of a beat: 16, 32 or 64
) (
  input  wire                 clk_i,        // clock
  input  wire                 rst_ni,       // asynchronous reset, active low
  input  wire                 row_valid_i,  // a row is there
  output wire                 row_ready_o,  // it is taken
  input  wire pto_nz_row_t    row_i,        // the row
  input  wire                 beat_valid_i, // a beat is there
  output wire                 beat_ready_o, // it is taken
  input  wire [8*GmBytes-1:0] beat_i,       // the beat
  output wire                 line_valid_o, // a line is there
  input  wire                 line_ready_i, // it is taken
  output wire pto_nz_line_t   line_of_o,    // its row, and its place in it
  output wire [255:0]         line_o        // the line
);
  localparam integer LaneBits   = $clog2(GmBytes);
  localparam integer PieceBytes = (GmBytes < 32) ? GmBytes : 32;   // taken per clock
  localparam integer PieceBits  = 8 * PieceBytes;
  localparam [6:0]   PIECE      = PieceBytes[6:0];
  localparam [6:0]   WORD       = GmBytes[6:0];

  // ---- the current row ----
  reg                 active_q;
  reg [LaneBits-1:0]  lane_q;                // of the next byte
  reg [17:0]          left_q;                // bytes still to take
  reg                 last_q;                // one piece at most
  reg                 have_q;                // the word of the next byte is in hold_q
  reg                 first_q;
  pto_nz_row_t        row_q;
  reg [8*GmBytes-1:0] hold_q;                // the beat taken last

  // ---- the line register ----
  reg           line_valid_q;
  pto_nz_line_t line_of_q;
  reg [255:0]   line_q;

  wire       line_free  = !line_valid_q || line_ready_i;
  wire [6:0] piece_len  = last_q ? left_q[6:0] : PIECE;
  wire [6:0] reach      = {{(7 - LaneBits){1'b0}}, lane_q} + piece_len;
  wire       two_words  = reach > WORD;
  wire at_end;                               // this piece ends its line

  wire reads   = active_q && !row_q.cut;
  wire can     = have_q ? (!two_words || beat_valid_i) : (!two_words && beat_valid_i);
  wire step    = reads && can && (line_free || !at_end);
  wire prime   = reads && !have_q && two_words;                    // take the first word only
  wire cut     = active_q && row_q.cut && line_free;
  wire emit    = (step && at_end) || cut;
  wire row_end = (step && last_q) || cut;

  assign beat_ready_o = prime || (step && (two_words || !have_q));
  assign row_ready_o  = !active_q || row_end;

  // ---- data ----
  wire [2*8*GmBytes-1:0] words = {beat_i, have_q ? hold_q : beat_i};
  wire [PieceBits-1:0]   whole = words[{1'b0, lane_q, 3'b000} +: PieceBits];
  reg  [PieceBits-1:0]   piece;
  always @* begin
    piece = whole;
    if (last_q) piece = whole & ~({PieceBits{1'b1}} << {piece_len, 3'b000});
  end
  wire [255:0] line;

  generate
    if (PieceBytes < 32) begin : gen_half
      reg                 upper_q;           // the lower half is in part_q
      reg [PieceBits-1:0] part_q;
      assign at_end = upper_q || last_q;
      assign line   = upper_q ? {piece, part_q} : {{PieceBits{1'b0}}, piece};
      always @(posedge clk_i or negedge rst_ni) begin
        if (!rst_ni) upper_q <= 1'b0;
        else if (step) upper_q <= !at_end;
      end
      always @(posedge clk_i) begin
        if (step) part_q <= piece;
      end
    end else begin : gen_whole
      assign at_end = 1'b1;
      assign line   = piece;
    end
  endgenerate

  wire [LaneBits-1:0] lane_next = lane_q + PIECE[LaneBits-1:0];

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      active_q     <= 1'b0;
      line_valid_q <= 1'b0;
    end else begin
      if (row_ready_o) active_q <= row_valid_i;
      if (line_free) line_valid_q <= emit;
    end
  end

  always @(posedge clk_i) begin
    if (beat_valid_i && beat_ready_o) hold_q <= beat_i;
    if (row_ready_o) begin
      lane_q  <= row_i.lane[LaneBits-1:0];
      left_q  <= row_i.len;
      last_q  <= row_i.len <= {11'd0, PIECE};
      have_q  <= row_i.share;
      first_q <= 1'b1;
      row_q   <= row_i;
    end else if (step) begin
      lane_q <= lane_next;
      left_q <= left_q - {11'd0, PIECE};
      last_q <= left_q <= {10'd0, PIECE, 1'b0};
      have_q <= |lane_next;
      if (at_end) first_q <= 1'b0;
    end else if (prime && beat_valid_i) begin
      have_q <= 1'b1;
    end
    if (emit) begin
      line_q    <= line;
      line_of_q <= {first_q, last_q, row_q};
    end
  end

  assign line_valid_o = line_valid_q;
  assign line_o       = line_q;
  assign line_of_o    = line_of_q;
endmodule

`default_nettype wire

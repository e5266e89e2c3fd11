// SPDX-License-Identifier: Apache-2.0
//
// Cuts the words read for a load to L0 into lines of 32 bytes, and counts the lines of a square.
// Rows begin and end at multiples of 32 bytes: a line is half a word of 512 bits, a word of 256
// bits or two of 128 bits.
// Throughput: one line per clock, or one word of 128 bits. Latency: none, of the first half of a
// line one clock. Limits: WordBytes is 16, 32 or 64. Spec: l0_loads.md 2 and 4.
//
//   clk         _/~\_/~\_/~\_/~\_
//   beat_valid  _/~~~~~~~\_______     words of 512 bits: one has both halves of a row of two
//   line_valid  _/~~~~~~~\_______
//   beat_ready  _____/~~~\_______     with the second
`default_nettype none
`include "pto_records.vh"

module pto_l0_lines #(
  parameter integer WordBytes = 32           // bytes of a word: 16, 32 or 64
) (
  input  wire                   clk_i,        // clock
  input  wire                   rst_ni,       // asynchronous reset, active low
  input  wire                   job_valid_i,  // a job is there
  output wire                   job_ready_o,  // it is taken
  input  wire pto_l0_job_t      job_i,        // the job
  input  wire                   beat_valid_i, // a word is there
  output wire                   beat_ready_o, // it is used up
  input  wire [8*WordBytes-1:0] beat_i,       // the word
  output wire                   line_valid_o, // a line is there
  input  wire                   line_ready_i, // it is taken
  output wire pto_l0_line_t     line_at_o,    // its place in its square
  output wire [255:0]           line_o        // the line
);
  // ---- jobs ----
  wire        next_valid, next_ready, next_turn, next_odd, next_pitch;
  wire [1:0]  next_unit;
  wire [11:0] next_row;
  wire [7:0]  next_rows;

  pto_fifo #(
    .Width(25),
    .Depth(`PTO_NUM_ACTIVE)
  ) u_jobs (
    .clk_i, .rst_ni,
    .wr_valid_i (job_valid_i),
    .wr_ready_o (job_ready_o),
    .wr_data_i  ({job_i.turn, job_i.unit, job_i.src[0], job_i.src_pitch[0], job_i.row, job_i.rows}),
    .rd_valid_o (next_valid),
    .rd_ready_i (next_ready),
    .rd_data_o  ({next_turn, next_unit, next_odd, next_pitch, next_row, next_rows})
  );

  // ---- the line in work ----
  reg        active_q, turn_q, row_odd_q, odd_q, pitch_q;
  reg [1:0]  unit_q;
  reg [11:0] row_q, left_q;                  // blocks of a row, and from this line on
  reg [7:0]  rows_q;                         // rows after this one
  reg [5:0]  count_q;                        // lines before this one, modulo 64

  wire end_row = left_q == 12'd1;
  wire take    = line_valid_o && line_ready_i;
  wire flip    = row_odd_q ^ pitch_q;        // the next row begins with an odd block
  assign next_ready = !active_q || (take && end_row && rows_q == 8'd0);

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) active_q <= 1'b0;
    else if (next_ready) active_q <= next_valid;
  end

  always @(posedge clk_i) begin
    if (next_ready) begin
      turn_q    <= next_turn;
      unit_q    <= next_unit;
      row_odd_q <= next_odd;
      odd_q     <= next_odd;
      pitch_q   <= next_pitch;
      row_q     <= next_row;
      left_q    <= next_row;
      rows_q    <= next_rows;
      count_q   <= 6'd0;
    end else if (take) begin
      count_q <= count_q + 6'd1;
      if (end_row) begin
        row_odd_q <= flip;
        odd_q     <= flip;
        left_q    <= row_q;
        rows_q    <= rows_q - 8'd1;
      end else begin
        odd_q     <= !odd_q;
        left_q    <= left_q - 12'd1;
      end
    end
  end

  wire [5:0] index = count_q & (6'd63 >> unit_q);          // a row is a whole number of squares
  assign line_at_o = {turn_q, unit_q, index};

  // ---- words to lines ----
  generate
    if (WordBytes == 16) begin : gen_two
      reg         upper_q;                   // the lower half is there
      reg [127:0] lower_q;
      wire        fetch = active_q && beat_valid_i && !upper_q;
      always @(posedge clk_i or negedge rst_ni) begin
        if (!rst_ni) upper_q <= 1'b0;
        else if (fetch) upper_q <= 1'b1;
        else if (take) upper_q <= 1'b0;
      end
      always @(posedge clk_i) begin
        if (fetch) lower_q <= beat_i;
      end
      assign line_valid_o = active_q && beat_valid_i && upper_q;
      assign beat_ready_o = active_q && (!upper_q || line_ready_i);
      assign line_o       = {beat_i, lower_q};
      wire unused_odd = odd_q;
    end else if (WordBytes == 32) begin : gen_one
      assign line_valid_o = active_q && beat_valid_i;
      assign beat_ready_o = active_q && line_ready_i;
      assign line_o       = beat_i;
      wire unused_odd = odd_q;
    end else begin : gen_half
      assign line_valid_o = active_q && beat_valid_i;
      assign beat_ready_o = active_q && line_ready_i && (odd_q || end_row);
      assign line_o       = odd_q ? beat_i[511:256] : beat_i[255:0];
    end
  endgenerate

  wire unused = &{1'b0, job_i};
endmodule

`default_nettype wire

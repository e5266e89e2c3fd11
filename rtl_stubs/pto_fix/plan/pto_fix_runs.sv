// SPDX-License-Identifier: Apache-2.0
//
// Lists the destination of a write-back op: its runs of contiguous bytes, cut into pieces at every
// 4 KiB boundary, so that a piece is an AXI burst. Three nested loops: runs, tiles of rows (nz2dn),
// repeats. See pto_fix_plan. Runs ahead of the data as far as its output queues permit.
// Throughput: one piece per clock, also across loops and ops. Latency: op to piece one clock.
// Spec: fixpipe.md section 2.
//
//   clk          _/~\_/~\_/~\_/~\_/~\_
//   op_valid     _/~~~\_______________      op of one run over a 4 KiB boundary
//   piece_valid  _____/~~~~~~~~~~~\___      each piece stays until piece_ready
//   piece_first  _____/~~~~~~~\_______      with the length of the whole run
//   piece_ready  _________/~~~~~~~\___
`default_nettype none
`include "pto_records.vh"

module pto_fix_runs (
  input  wire                 clk_i,         // clock
  input  wire                 rst_ni,        // asynchronous reset, active low
  input  wire                 op_valid_i,    // an op is there
  output wire                 op_ready_o,    // it is taken
  input  wire pto_fix_runs_t  op_i,          // its nest
  output wire                 piece_valid_o, // a piece is there
  input  wire                 piece_ready_i, // it is taken
  output wire pto_fix_piece_t piece_o        // the piece
);
  reg            active_q;
  pto_fix_runs_t op_q;
  reg [2:0]      space_q;

  reg [12:0] run_q;                          // indices
  reg [6:0]  tile_q;
  reg [15:0] rep_q;
  reg        first_q;
  reg [39:0] addr_q;                         // this piece
  reg [26:0] left_q;                         // bytes of the run from here on
  reg [39:0] run_base_q;                     // first byte of the run
  reg [39:0] tile_base_q;                    // of the first run of the tile
  reg [39:0] rep_base_q;                     // of the repeat

  wire [12:0] to_page_end = 13'd4096 - {1'b0, addr_q[11:0]};
  wire        fits        = left_q <= {14'd0, to_page_end};
  wire        run_end     = run_q == op_q.run_last;
  wire        tile_end    = tile_q == op_q.tile_last;
  wire        op_end      = fits && run_end && tile_end && rep_q == op_q.rep_last;
  wire        step        = active_q && piece_ready_i;

  wire [39:0]          next_run  = run_base_q + op_q.run_pitch;
  wire [39:0]          next_tile = tile_base_q + op_q.run_tile;
  wire [39:0]          next_rep  = rep_base_q + op_q.run_rep;
  wire [6:0]           tile_inc  = tile_q + 7'd1;

  assign op_ready_o    = !active_q || (step && op_end);
  assign piece_valid_o = active_q;
  assign piece_o       = {op_q.id, first_q, op_end, space_q, addr_q,
                          fits ? left_q[12:0] : to_page_end, left_q};

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) active_q <= 1'b0;
    else if (op_ready_o) active_q <= op_valid_i;
  end

  always @(posedge clk_i) begin
    if (op_ready_o) begin
      if (op_valid_i) begin
        op_q        <= op_i;
        space_q     <= op_i.space;
        run_q       <= 13'd0;
        tile_q      <= 7'd0;
        rep_q       <= 16'd0;
        first_q     <= 1'b1;
        addr_q      <= op_i.dst;
        run_base_q  <= op_i.dst;
        tile_base_q <= op_i.dst;
        rep_base_q  <= op_i.dst;
        left_q      <= (op_i.tile_last == 7'd0) ? op_i.run_final : op_i.run_len;
      end
    end else if (step) begin
      first_q <= fits;
      if (!fits) begin
        addr_q <= {addr_q[39:12] + 1'b1, 12'd0};
        left_q <= left_q - {14'd0, to_page_end};
      end else if (!run_end) begin
        run_q      <= run_q + 13'd1;
        addr_q     <= next_run;
        run_base_q <= next_run;
        left_q     <= tile_end ? op_q.run_final : op_q.run_len;
      end else begin
        run_q <= 13'd0;
        if (!tile_end) begin
          tile_q      <= tile_inc;
          addr_q      <= next_tile;
          run_base_q  <= next_tile;
          tile_base_q <= next_tile;
          left_q      <= (tile_inc == op_q.tile_last) ? op_q.run_final : op_q.run_len;
        end else begin
          tile_q      <= 7'd0;
          rep_q       <= rep_q + 16'd1;
          addr_q      <= next_rep;
          run_base_q  <= next_rep;
          tile_base_q <= next_rep;
          rep_base_q  <= next_rep;
          left_q      <= (op_q.tile_last == 7'd0) ? op_q.run_final : op_q.run_len;
          if (op_q.swap) space_q <= `PTO_SPACE_UB1;
        end
      end
    end
  end
  wire unused = &{1'b0, op_q.space, op_q.dst};
endmodule

`default_nettype wire

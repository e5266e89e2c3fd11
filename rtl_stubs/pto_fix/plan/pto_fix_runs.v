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
`include "pto_desc.vh"

module pto_fix_runs #(
  parameter integer AddrWidth = 40,          // bits of a destination byte address
  parameter integer IdWidth   = 2            // bits of an op number
) (
  input  wire                 clk_i,          // clock
  input  wire                 rst_ni,         // asynchronous reset, active low
  input  wire                 op_valid_i,     // an op is there
  output wire                 op_ready_o,     // it is taken
  input  wire [IdWidth-1:0]   op_id_i,        // op number
  input  wire [2:0]           space_i,        // destination memory
  input  wire                 swap_i,         // the second repeat goes to UB sub-block 1
  input  wire [AddrWidth-1:0] dst_i,          // first byte
  input  wire [12:0]          run_last_i,     // runs less 1
  input  wire [AddrWidth-1:0] run_pitch_i,    // bytes from one to the next
  input  wire [26:0]          run_len_i,      // bytes of a run, at least 1
  input  wire [26:0]          run_final_i,    // the same in the last tile
  input  wire [6:0]           tile_last_i,    // tiles less 1
  input  wire [AddrWidth-1:0] run_tile_i,     // bytes between tiles
  input  wire [15:0]          rep_last_i,     // repeats less 1
  input  wire [AddrWidth-1:0] run_rep_i,      // bytes between repeats
  output wire                 piece_valid_o,  // a piece is there
  input  wire                 piece_ready_i,  // it is taken
  output wire [IdWidth-1:0]   piece_id_o,     // op number
  output wire                 piece_first_o,  // first piece of its run
  output wire                 piece_last_o,   // last piece of its op
  output wire [2:0]           piece_space_o,  // destination memory
  output wire [AddrWidth-1:0] piece_addr_o,   // byte address
  output wire [12:0]          piece_len_o,    // bytes, 1 to 4096
  output wire [26:0]          piece_run_o     // with the first piece: bytes of its run
);
  reg                 active_q;
  reg [IdWidth-1:0]   id_q;
  reg [2:0]           space_q;
  reg                 swap_q;
  reg [12:0]          run_last_q;
  reg [6:0]           tile_last_q;
  reg [15:0]          rep_last_q;
  reg [26:0]          len_q, final_q;
  reg [AddrWidth-1:0] pitch_q, tile_step_q, rep_step_q;

  reg [12:0]          run_q;                 // indices
  reg [6:0]           tile_q;
  reg [15:0]          rep_q;
  reg                 first_q;
  reg [AddrWidth-1:0] addr_q;                // this piece
  reg [26:0]          left_q;                // bytes of the run from here on
  reg [AddrWidth-1:0] run_base_q;            // first byte of the run
  reg [AddrWidth-1:0] tile_base_q;           // of the first run of the tile
  reg [AddrWidth-1:0] rep_base_q;            // of the repeat

  wire [12:0] to_page_end = 13'd4096 - {1'b0, addr_q[11:0]};
  wire        fits        = left_q <= {14'd0, to_page_end};
  wire        run_end     = run_q == run_last_q;
  wire        tile_end    = tile_q == tile_last_q;
  wire        op_end      = fits && run_end && tile_end && rep_q == rep_last_q;
  wire        step        = active_q && piece_ready_i;

  wire [AddrWidth-1:0] next_run  = run_base_q + pitch_q;
  wire [AddrWidth-1:0] next_tile = tile_base_q + tile_step_q;
  wire [AddrWidth-1:0] next_rep  = rep_base_q + rep_step_q;
  wire [6:0]           tile_inc  = tile_q + 7'd1;

  assign op_ready_o    = !active_q || (step && op_end);
  assign piece_valid_o = active_q;
  assign piece_id_o    = id_q;
  assign piece_first_o = first_q;
  assign piece_last_o  = op_end;
  assign piece_space_o = space_q;
  assign piece_addr_o  = addr_q;
  assign piece_len_o   = fits ? left_q[12:0] : to_page_end;
  assign piece_run_o   = left_q;

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) active_q <= 1'b0;
    else if (op_ready_o) active_q <= op_valid_i;
  end

  always @(posedge clk_i) begin
    if (op_ready_o) begin
      if (op_valid_i) begin
        id_q        <= op_id_i;
        space_q     <= space_i;
        swap_q      <= swap_i;
        run_last_q  <= run_last_i;
        tile_last_q <= tile_last_i;
        rep_last_q  <= rep_last_i;
        len_q       <= run_len_i;
        final_q     <= run_final_i;
        pitch_q     <= run_pitch_i;
        tile_step_q <= run_tile_i;
        rep_step_q  <= run_rep_i;
        run_q       <= 13'd0;
        tile_q      <= 7'd0;
        rep_q       <= 16'd0;
        first_q     <= 1'b1;
        addr_q      <= dst_i;
        run_base_q  <= dst_i;
        tile_base_q <= dst_i;
        rep_base_q  <= dst_i;
        left_q      <= (tile_last_i == 7'd0) ? run_final_i : run_len_i;
      end
    end else if (step) begin
      first_q <= fits;
      if (!fits) begin
        addr_q <= {addr_q[AddrWidth-1:12] + 1'b1, 12'd0};
        left_q <= left_q - {14'd0, to_page_end};
      end else if (!run_end) begin
        run_q      <= run_q + 13'd1;
        addr_q     <= next_run;
        run_base_q <= next_run;
        left_q     <= tile_end ? final_q : len_q;
      end else begin
        run_q <= 13'd0;
        if (!tile_end) begin
          tile_q      <= tile_inc;
          addr_q      <= next_tile;
          run_base_q  <= next_tile;
          tile_base_q <= next_tile;
          left_q      <= (tile_inc == tile_last_q) ? final_q : len_q;
        end else begin
          tile_q      <= 7'd0;
          rep_q       <= rep_q + 16'd1;
          addr_q      <= next_rep;
          run_base_q  <= next_rep;
          tile_base_q <= next_rep;
          rep_base_q  <= next_rep;
          left_q      <= (tile_last_q == 7'd0) ? final_q : len_q;
          if (swap_q) space_q <= `PTO_SPACE_UB1;
        end
      end
    end
  end
endmodule

`default_nettype wire

// SPDX-License-Identifier: Apache-2.0
//
// Properties of pto_l0_tile, the ring of lines of loads to L0, with lines of 4 nibbles: squares of
// 4, 2 and 1 lines, 16 lines in the ring. No line is written over one that is in use, or read
// before its square is whole; each destination gets one line, in order, which has the nibbles of
// its column, or of its line; a line waits only while the ring has no place for it, a destination
// only for lines. One nibble of one line is followed. An item is a square or a single line.
// Sources: pto_mte1/pto_l0_tile.sv common/pto_rotate.sv
// Bugs: l0_rotation_of_last_bit:nibble_kept l0_square_not_aligned:place_exact
// Bugs: l0_square_read_early:at_ready_exact l0_wait_reads_next:nibble_kept
// Bugs: l0_ring_full_before_alignment:line_ready_exact l0_ring_freed_early:line_ready_exact
// Bugs: l0_ring_full_by_one_more:no_overwrite squares_do_not_overlap:line_ready_exact
`include "pto_records.vh"

// In the place of a bank: it keeps the word at one address; any other reads as any value.
module pto_ram #(
  parameter integer Width = 4,
  parameter integer Depth = 16
) (
  input  wire                     clk_i,
  input  wire                     wr_en_i,
  input  wire [$clog2(Depth)-1:0] wr_addr_i,
  input  wire [Width-1:0]         wr_data_i,
  input  wire [$clog2(Depth)-1:0] rd_addr_i,
  output wire [Width-1:0]         rd_data_o
);
  wire [$clog2(Depth)-1:0] address;          // driven by the proof
  (* anyseq *) wire [Width-1:0] other;
  reg [Width-1:0] kept, read;
  reg             hit;
  always @(posedge clk_i) begin
    if (wr_en_i && wr_addr_i == address) kept <= wr_data_i;
    hit  <= rd_addr_i == address;
    read <= kept;
  end
  assign rd_data_o = hit ? read : other;
endmodule

module prove (
  input wire         clk,
  input wire         line_valid,
  input wire         turn,
  input wire [1:0]   unit,
  input wire [5:0]   index,
  input wire [15:0]  line,
  input wire         at_valid,
  input wire         at_turn,
  input wire [1:0]   at_unit,
  input wire [5:0]   at_index,
  input wire         at_end,
  input wire [19:0]  at_block,
  input wire         out_ready,
  input wire         mark                    // follow a nibble of this line, if it is at `address`
);
  localparam [4:0] LINES = 5'd16;
  reg rst_n = 1'b0;
  always @(posedge clk) rst_n <= 1'b1;

  wire        line_ready, at_ready, out_valid;
  wire [19:0] out_block;
  wire [15:0] out;
  pto_l0_tile #(.Banks(4)) u_tile (
    .clk_i(clk), .rst_ni(rst_n),
    .line_valid_i(line_valid), .line_ready_o(line_ready), .line_at_i({turn, unit, index}),
    .line_i(line), .at_valid_i(at_valid), .at_ready_o(at_ready),
    .at_i({at_turn, at_unit, at_index}), .at_end_i(at_end), .at_block_i(at_block),
    .out_valid_o(out_valid), .out_ready_i(out_ready), .out_block_o(out_block), .out_o(out)
  );
  (* hierconn *) wire        \u_tile.fill ;
  (* hierconn *) wire [4:0]  \u_tile.fill_at ;
  (* hierconn *) wire [4:0]  \u_tile.fill_q ;
  (* hierconn *) wire [4:0]  \u_tile.whole_q ;
  (* hierconn *) wire [4:0]  \u_tile.read_q ;
  (* hierconn *) wire [4:0]  \u_tile.free_q ;
  (* hierconn *) wire        \u_tile.b_end_q ;
  (* hierconn *) wire        \u_tile.b_turn_q ;
  (* hierconn *) wire [1:0]  \u_tile.b_unit_q ;
  (* hierconn *) wire [1:0]  \u_tile.b_index_q ;
  (* hierconn *) wire [3:0]  \u_tile.b_base_q ;
  (* hierconn *) wire [4:0]  \u_tile.b_next_q ;

  // The followed place of the ring, and number of a nibble.
  (* anyconst *) wire [3:0] address;
  (* anyconst *) wire [1:0] nibble;
  (* hierconn *) wire [3:0] \u_tile.gen_bank[0].u_ram.address = address;
  (* hierconn *) wire [3:0] \u_tile.gen_bank[1].u_ram.address = address;
  (* hierconn *) wire [3:0] \u_tile.gen_bank[2].u_ram.address = address;
  (* hierconn *) wire [3:0] \u_tile.gen_bank[3].u_ram.address = address;
  (* hierconn *) wire [3:0] \u_tile.gen_bank[0].u_ram.kept ;
  (* hierconn *) wire [3:0] \u_tile.gen_bank[1].u_ram.kept ;
  (* hierconn *) wire [3:0] \u_tile.gen_bank[2].u_ram.kept ;
  (* hierconn *) wire [3:0] \u_tile.gen_bank[3].u_ram.kept ;
  (* hierconn *) wire [3:0] \u_tile.gen_bank[0].u_ram.read ;
  (* hierconn *) wire [3:0] \u_tile.gen_bank[1].u_ram.read ;
  (* hierconn *) wire [3:0] \u_tile.gen_bank[2].u_ram.read ;
  (* hierconn *) wire [3:0] \u_tile.gen_bank[3].u_ram.read ;
  (* hierconn *) wire       \u_tile.gen_bank[0].u_ram.hit ;
  (* hierconn *) wire       \u_tile.gen_bank[1].u_ram.hit ;
  (* hierconn *) wire       \u_tile.gen_bank[2].u_ram.hit ;
  (* hierconn *) wire       \u_tile.gen_bank[3].u_ram.hit ;
  wire [15:0] kept    = {\u_tile.gen_bank[3].u_ram.kept , \u_tile.gen_bank[2].u_ram.kept ,
                         \u_tile.gen_bank[1].u_ram.kept , \u_tile.gen_bank[0].u_ram.kept };
  wire [15:0] fetched = {\u_tile.gen_bank[3].u_ram.read , \u_tile.gen_bank[2].u_ram.read ,
                         \u_tile.gen_bank[1].u_ram.read , \u_tile.gen_bank[0].u_ram.read };
  wire [3:0]  hits    = {\u_tile.gen_bank[3].u_ram.hit , \u_tile.gen_bank[2].u_ram.hit ,
                         \u_tile.gen_bank[1].u_ram.hit , \u_tile.gen_bank[0].u_ram.hit };

  function [4:0] size;                       // lines of an item
    input       square;
    input [1:0] of;
    size = square ? 5'd4 >> of : 5'd1;
  endfunction

  function [4:0] start;                      // first line of an item after `last`
    input [4:0] last;
    input       square;
    input [1:0] of;
    start = (last + size(square, of) - 5'd1) & ~(size(square, of) - 5'd1);
  endfunction

  // Lines in: the next, the end of whole items, and lines of the square in work with its type.
  reg  [4:0] fill, whole, count;
  reg  [1:0] its_unit;
  wire [4:0] place  = count == 5'd0 ? start(fill, turn, unit) : fill;
  wire       put    = line_valid && line_ready;
  wire       wholes = count + 5'd1 == size(turn, unit);
  always @(posedge clk) if (!rst_n) begin
    {fill, whole, count} <= 15'd0;
  end else if (put) begin
    fill     <= place + 5'd1;
    count    <= wholes ? 5'd0 : count + 5'd1;
    its_unit <= unit;
    if (wholes) whole <= place + 5'd1;
  end

  // Lines out: the end of items read, the item whose columns are read, the column at the output,
  // and the end of items that have left.
  reg  [4:0] read, freed;
  reg        within, full, in_turn, out_turn, ends;
  reg  [1:0] in_unit, out_unit;
  reg  [5:0] column;
  reg  [4:0] next_freed;
  reg [19:0] block;
  wire [4:0] base     = start(read, at_turn, at_unit);
  wire [4:0] next     = base + size(at_turn, at_unit);
  wire [4:0] in_next  = start(read, in_turn, in_unit) + size(in_turn, in_unit);
  wire [4:0] out_base = next_freed - size(out_turn, out_unit);
  wire       take     = at_valid && at_ready;
  wire       leave    = out_valid && out_ready;
  always @(posedge clk) if (!rst_n) begin
    {read, freed, within, full} <= 12'd0;
  end else begin
    full <= take || (full && !leave);
    if (leave && ends) freed <= next_freed;
    if (take) begin
      within     <= !at_end;
      in_turn    <= at_turn;
      in_unit    <= at_unit;
      out_turn   <= at_turn;
      out_unit   <= at_unit;
      column     <= at_index;
      ends       <= at_end;
      next_freed <= next;
      block      <= at_block;
      if (at_end) read <= next;
    end
  end

  // The followed nibble: where its line is, which of its item that is, and the item.
  reg        marked;
  reg        mine;                           // the column at the output is of its item
  reg        its_turn;
  reg  [1:0] its_of;
  reg  [4:0] its_row, its_base;
  reg  [3:0] value;
  wire [4:0] its_at  = its_base + its_row;
  wire [4:0] its_end = its_base + size(its_turn, its_of);
  wire       before  = its_base - read < LINES;            // its item has columns to be read
  wire [1:0] bank    = its_turn ? nibble + (its_row[1:0] << its_of) : nibble;
  // Its column, and its nibble in that: element `its_row`, and the nibble of the element.
  wire       meets   = !its_turn || column[1:0] == nibble >> its_of;
  wire [1:0] low     = nibble & ~(2'd3 << its_of);
  wire [1:0] lands   = its_turn ? (its_row[1:0] << its_of) + low : nibble;
  always @(posedge clk) if (!rst_n) begin
    marked <= 1'b0;
  end else begin
    if (take) mine <= marked && base == its_base;
    if (!marked && put && mark && place[3:0] == address) begin
      marked   <= 1'b1;
      its_turn <= turn;
      its_of   <= unit;
      its_row  <= count;
      its_base <= place - count;
      value    <= line[4*nibble +: 4];
    end else if (leave && ends && mine) begin
      marked   <= 1'b0;
    end
  end

  // Its line is in the ring; its item is read to the end, with its last column at the output; the
  // column at the output is of its item.
  wire there  = (whole - its_end <= LINES && its_at - freed < LINES)
              || (count != 5'd0 && its_base == fill - count && its_turn && its_of == its_unit
                  && its_row < count);
  wire left   = full && ends && mine && read == its_end;
  wire own    = marked && next_freed == its_end && out_turn == its_turn && out_unit == its_of;

  reg        held;                           // a line was offered and not taken
  reg [19:0] held_block;
  always @(posedge clk) begin
    held       <= rst_n && out_valid && !out_ready;
    held_block <= out_block;
  end

  always @* begin
    // An element is not longer than a line, here of 4 nibbles.
    assume(unit != 2'd3 && at_unit != 2'd3);
    // The lines of a square follow each other, with their numbers and one type.
    assume(!line_valid || (count == 5'd0 ? !turn || index == 6'd0
                           : turn && unit == its_unit && index == count));
    // Destinations of an item have one type; which columns they are, and how many, is free.
    assume(!at_valid || !within || (at_turn == in_turn && at_unit == in_unit));
    // Items out are the items in: one that is read ends with or before what is whole, and that of
    // the followed nibble has its type and begins with its first line.
    assume(!at_valid || read == whole || next - read <= whole - read);
    assume(!at_valid || read == whole || !marked || !before || next - read <= its_base - read
           || (at_turn == its_turn && at_unit == its_of));
    if (rst_n) begin
      lemma_square: assert(count == 5'd0 ? fill == whole
                           : count < size(1'b1, its_unit) && fill - count - whole < 5'd4
                             && start(fill - count, 1'b1, its_unit) == fill - count);
      lemma_in: assert(\u_tile.fill_q == fill && \u_tile.whole_q == whole);
      lemma_out: assert(\u_tile.read_q == read && \u_tile.free_q == freed && out_valid == full
                        && (!full || (\u_tile.b_end_q == ends && \u_tile.b_turn_q == out_turn
                                      && \u_tile.b_unit_q == out_unit
                                      && \u_tile.b_index_q == column[1:0]
                                      && \u_tile.b_base_q == out_base[3:0]
                                      && \u_tile.b_next_q == next_freed)));
      lemma_type: assert(!full || ends || (in_turn == out_turn && in_unit == out_unit));
      lemma_leave: assert((full && ends ? next_freed : freed) == read
                          && (!full || ends || (within && next_freed == in_next)));
      lemma_room: assert(fill - freed <= LINES && whole - read <= LINES && read - freed < 5'd8);
      lemma_within: assert(!within || (read != whole && in_next - read <= whole - read));
      lemma_item: assert(!marked || (its_at[3:0] == address && its_row < size(its_turn, its_of)
                                     && start(its_base, its_turn, its_of) == its_base));
      lemma_read: assert(!marked || before || left);
      lemma_next: assert(!marked || left || !within || in_next - read <= its_base - read
                         || (in_next == its_end && in_turn == its_turn && in_unit == its_of));
      lemma_mine: assert(!full || !mine || own);
      lemma_there: assert(!marked || there);
      lemma_kept: assert(!marked || kept[4*bank +: 4] == value);
      lemma_fetched: assert(!marked || !full || !mine || !meets
                            || (hits[bank] && fetched[4*bank +: 4] == value));
      line_ready_exact: assert(!line_valid || line_ready == (place - freed < LINES));
      place_exact: assert(\u_tile.fill == put && (!put || \u_tile.fill_at == place));
      no_overwrite: assert(!(marked && \u_tile.fill && \u_tile.fill_at [3:0] == address));
      at_ready_exact: assert(at_ready == (read != whole && (!full || out_ready)));
      offered: assert(out_valid == full && (!full || out_block == block));
      stable: assert(!held || (out_valid && out_block == held_block));
      nibble_kept: assert(!(marked && full && mine && meets) || out[4*lands +: 4] == value);
      no_dead_lock: assert(!line_valid || line_ready || at_ready || out_valid);
      reach_full: assert(fill - freed != LINES);
      reach_gap: assert(!(line_valid && !line_ready && fill - freed == LINES - 5'd3));
      reach_wrap: assert(!(marked && full && mine && its_turn && its_base[4]));
      reach_two_squares: assert(!(count != 5'd0 && full && out_turn && !ends && read != whole));
      reach_column: assert(!(marked && held && mine && meets && its_of == 2'd1 && its_row == 5'd1
                             && column == 6'd1 && put));
    end
  end
endmodule

// SPDX-License-Identifier: Apache-2.0
//
// Unit flags of the write-back ops: waits until the flags of all 512-byte L0C blocks that an op
// reads are set, and clears them when it retires. The blocks are exact: those with a word that is
// read. Each repeat and group of 16 columns reads one range of words; ranges with fewer than 8
// words between them leave no block out and become one (fold), the others are walked. The map of
// blocks of an op to be cleared is kept by slot, so that each block is polled and cleared once.
// Throughput: waiting takes 2 clocks, one per fold (0 to 2), one per range and flag word it lies
// in, then 2 clocks and the round trip of the port per flag word, again after PollGap clocks as
// long as a flag is missing; clearing takes 3 clocks and 2 per flag word. Both may run at a time.
// Limits: 512 flags, words of 32; job inputs are those of a legal op with adjacent rows (FIX-L20,
// L23), so no sum leaves L0C. Spec: fixpipe.md 2, 8; docs/contract.md, flag port.
//
//   clk          _/~\_/~\_/~\_/~\_/~\_
//   flag_req     _/~~~~~~~\___________    stable until granted
//   flag_gnt     _____/~~~\___________
//   flag_rvalid  _________/~~~\_______    reads only
//   job_done     _________/~~~\_______    last word: all flags set
`default_nettype none

module pto_fix_flags #(
  parameter integer WordBits = 12,           // bits of an index of 64-byte L0C words
  parameter integer SlotBits = 3,            // bits of a slot number
  parameter integer PollGap  = 4             // clocks from a reply with flags missing to a retry
) (
  input  wire                clk_i,            // clock
  input  wire                rst_ni,           // asynchronous reset, active low
  input  wire                job_valid_i,      // an op waits; stays, with its fields, until done
  output wire                job_done_o,       // one clock: all its flags were seen set
  input  wire                job_hold_i,       // an op before has yet to clear such flags: no poll
  input  wire                job_keep_i,       // keep its map: it clears the flags when it retires
  input  wire [SlotBits-1:0] job_slot_i,       // under this number
  input  wire [WordBits-1:0] job_src_i,        // first word
  input  wire [WordBits:0]   job_rows_i,       // words of a range
  input  wire [7:0]          job_groups_i,     // groups less 1
  input  wire [WordBits-1:0] job_src_stride_i, // words from group to group
  input  wire [15:0]         job_repeats_i,    // repeats less 1
  input  wire [WordBits-1:0] job_src_loop_i,   // words from repeat to repeat
  input  wire                clr_valid_i,      // an op retires; stays until done
  input  wire [SlotBits-1:0] clr_slot_i,       // number of its map
  output wire                clr_done_o,       // one clock: its flags are cleared
  output wire                flag_req_o,       // request, stable until granted
  input  wire                flag_gnt_i,       // request taken
  output wire                flag_clear_o,     // 0 read, 1 clear
  output wire [3:0]          flag_addr_o,      // word of 32 flags
  output wire [31:0]         flag_mask_o,      // flags that count, not 0
  input  wire                flag_rvalid_i,    // reply to a read
  input  wire [31:0]         flag_rdata_i      // flags of the word
);
  localparam integer Slots    = 1 << SlotBits;
  localparam integer GapBits  = $clog2(PollGap + 1);
  localparam [WordBits+1:0] NEAR = 7;        // words of a gap that holds no whole block

  function [3:0] lowest;                     // index of the lowest set bit, 15 if there is no other
    input [15:0] set;
    integer k;
    begin
      lowest = 4'd15;
      for (k = 14; k >= 0; k = k - 1) if (set[k]) lowest = k[3:0];
    end
  endfunction

  function [15:0] bit_of;                    // one set bit
    input [3:0] index;
    bit_of = 16'd1 << index;
  endfunction

  // ---- port ----
  reg        req_q, clear_q;
  reg [3:0]  addr_q;
  reg [31:0] mask_q;
  wire       port_free = !req_q || flag_gnt_i;
  wire clr_want, poll_want;
  wire       clr_go  = clr_want && port_free;            // clearing has priority: it is short
  wire       poll_go = poll_want && port_free && !clr_want;

  assign flag_req_o   = req_q;
  assign flag_clear_o = clear_q;
  assign flag_addr_o  = addr_q;
  assign flag_mask_o  = mask_q;

  // ---- the map of blocks of the op that waits ----
  localparam [2:0] IDLE = 3'd0, FOLD = 3'd1, WALK = 3'd2, PICK = 3'd3, POLL = 3'd4, REPLY = 3'd5,
                   GAP = 3'd6;
  reg [2:0]          state_q;
  reg [31:0]         map_q [0:15];           // blocks by flag word; counts where touched_q is set
  reg [15:0]         touched_q;              // flag words with a block
  reg [WordBits-1:0] range_q;                // first word of the range being walked
  reg [WordBits-1:0] repeat_q;               // first word of its repeat
  reg [8:0]          block_q;                // block that is next in the range
  reg [WordBits+1:0] reach_q;                // words of a range, and NEAR
  reg [7:0]          groups_q;               // groups less 1 that are not folded
  reg [15:0]         repeats_q;              // repeats less 1 that are not folded
  reg [7:0]          groups_left_q;
  reg [15:0]         repeats_left_q;

  // A stride of 0 reads the same words again.
  wire fold_groups  = groups_q != 8'd0 && {2'd0, job_src_stride_i} <= reach_q;
  wire fold_repeats = repeats_q != 16'd0 && {2'd0, job_src_loop_i} <= reach_q;
  wire [WordBits-1:0] fold_count  = fold_groups ? {{(WordBits - 8){1'b0}}, groups_q}
                                  : repeats_q[WordBits-1:0];
  wire [WordBits-1:0] fold_stride = fold_groups ? job_src_stride_i : job_src_loop_i;

  // The part of the range in the flag word of block_q.
  wire [WordBits-1:0] end_word  = range_q + reach_q[WordBits-1:0] - NEAR[WordBits-1:0] - 1'b1;
  wire [8:0]          end_block = {{(12 - WordBits){1'b0}}, end_word[WordBits-1:3]};
  wire                in_word   = block_q[8:5] == end_block[8:5];
  wire [4:0]          top       = in_word ? end_block[4:0] : 5'd31;
  wire [31:0]         mask      = (32'hFFFFFFFF << block_q[4:0])
                                & (32'hFFFFFFFF >> (5'd31 - top));
  wire [WordBits-1:0] next_group  = range_q + job_src_stride_i;
  wire [WordBits-1:0] next_repeat = repeat_q + job_src_loop_i;

  // ---- polling, flag word by flag word ----
  reg [15:0]        todo_q;                  // flag words with flags not yet read as set
  reg [3:0]         word_q;                  // the one that is polled
  reg [31:0]        want_q;                  // its blocks
  reg [GapBits-1:0] gap_q;
  wire              all_set  = (flag_rdata_i & want_q) == want_q;
  wire              good     = state_q == REPLY && flag_rvalid_i && all_set;
  wire [15:0]       rest     = todo_q & ~bit_of(word_q);
  wire              finish   = good && rest == 16'd0;
  assign poll_want  = state_q == POLL;
  assign job_done_o = finish;

  // ---- maps kept for the clear ----
  reg [31:0] kept_q  [0:16*Slots-1];
  reg [15:0] words_q [0:Slots-1];

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= IDLE;
    end else begin
      case (state_q)
        IDLE: if (job_valid_i) state_q <= FOLD;
        FOLD: if (!fold_groups && !fold_repeats) state_q <= WALK;
        WALK: if (in_word && groups_left_q == 8'd0 && repeats_left_q == 16'd0) state_q <= PICK;
        PICK: if (!job_hold_i) state_q <= POLL;
        POLL: if (poll_go) state_q <= REPLY;
        REPLY: begin
          if (finish) state_q <= IDLE;
          else if (good) state_q <= PICK;
          else if (flag_rvalid_i) state_q <= GAP;
        end
        default: if (gap_q == {GapBits{1'b0}}) state_q <= POLL;
      endcase
    end
  end

  always @(posedge clk_i) begin
    case (state_q)
      IDLE: if (job_valid_i) begin
        range_q   <= job_src_i;
        repeat_q  <= job_src_i;
        reach_q   <= {1'b0, job_rows_i} + NEAR;
        groups_q  <= (job_src_stride_i == {WordBits{1'b0}}) ? 8'd0 : job_groups_i;
        repeats_q <= (job_src_loop_i == {WordBits{1'b0}}) ? 16'd0 : job_repeats_i;
        touched_q <= 16'd0;
      end
      FOLD: begin
        if (fold_groups || fold_repeats) begin
          reach_q <= reach_q + {2'd0, fold_count} * {2'd0, fold_stride};
        end
        if (fold_groups) groups_q <= 8'd0;
        else if (fold_repeats) repeats_q <= 16'd0;
        block_q        <= {{(12 - WordBits){1'b0}}, range_q[WordBits-1:3]};
        groups_left_q  <= groups_q;
        repeats_left_q <= repeats_q;
      end
      WALK: begin
        map_q[block_q[8:5]] <= mask | (touched_q[block_q[8:5]] ? map_q[block_q[8:5]] : 32'd0);
        touched_q           <= touched_q | bit_of(block_q[8:5]);
        todo_q              <= touched_q | bit_of(block_q[8:5]);
        if (!in_word) begin
          block_q <= {block_q[8:5] + 4'd1, 5'd0};
        end else if (groups_left_q != 8'd0) begin
          groups_left_q <= groups_left_q - 8'd1;
          range_q       <= next_group;
          block_q       <= {{(12 - WordBits){1'b0}}, next_group[WordBits-1:3]};
        end else begin
          groups_left_q  <= groups_q;
          repeats_left_q <= repeats_left_q - 16'd1;
          range_q        <= next_repeat;
          repeat_q       <= next_repeat;
          block_q        <= {{(12 - WordBits){1'b0}}, next_repeat[WordBits-1:3]};
        end
      end
      PICK: begin
        word_q <= lowest(todo_q);
        want_q <= map_q[lowest(todo_q)];
      end
      REPLY: begin
        gap_q <= PollGap[GapBits-1:0] - {{(GapBits - 1){1'b0}}, 1'b1};
        if (good) todo_q <= rest;
        if (good && job_keep_i) kept_q[{job_slot_i, word_q}] <= want_q;
        if (finish && job_keep_i) words_q[job_slot_i] <= touched_q;
      end
      GAP: gap_q <= gap_q - {{(GapBits - 1){1'b0}}, 1'b1};
      default: ;
    endcase
  end

  // ---- clearing ----
  localparam [1:0] REST = 2'd0, LOAD = 2'd1, SEND = 2'd2, LAST = 2'd3;
  reg [1:0]  clr_state_q;
  reg [15:0] clr_todo_q;                     // flag words to clear
  reg [3:0]  clr_word_q;
  reg [31:0] clr_mask_q;
  wire [3:0] clr_next = lowest(clr_todo_q);
  assign clr_want   = clr_state_q == SEND;
  assign clr_done_o = clr_state_q == LAST && flag_gnt_i;

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      clr_state_q <= REST;
    end else begin
      case (clr_state_q)
        REST:    if (clr_valid_i) clr_state_q <= LOAD;
        LOAD:    clr_state_q <= SEND;
        SEND:    if (clr_go) clr_state_q <= (clr_todo_q == 16'd0) ? LAST : LOAD;
        default: if (flag_gnt_i) clr_state_q <= REST;    // the pending request is the last
      endcase
    end
  end

  always @(posedge clk_i) begin
    if (clr_state_q == REST && clr_valid_i) clr_todo_q <= words_q[clr_slot_i];
    if (clr_state_q == LOAD) begin
      clr_word_q <= clr_next;
      clr_mask_q <= kept_q[{clr_slot_i, clr_next}];
      clr_todo_q <= clr_todo_q & ~bit_of(clr_next);
    end
  end

  // ---- requests ----
  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) req_q <= 1'b0;
    else if (port_free) req_q <= clr_go || poll_go;
  end

  always @(posedge clk_i) begin
    if (clr_go || poll_go) begin
      clear_q <= clr_go;
      addr_q  <= clr_go ? clr_word_q : word_q;
      mask_q  <= clr_go ? clr_mask_q : want_q;
    end
  end

  wire unused = &{1'b0, reach_q[WordBits+1:WordBits], end_word[2:0]};
endmodule

`default_nettype wire

// SPDX-License-Identifier: Apache-2.0
//
// Properties of pto_fix_flags with 512 words of L0C, which are 64 blocks in 2 flag words, up to 2
// groups, 4 repeats and 64 rows, and 2 maps: an op has read all flags of its map as set when it is
// let in, and clears all of them, each once, when it retires. One block and the map of one slot are
// followed. Ranges are walked at their words; that folded ones touch the same blocks is left to
// simulation: that equation is too hard for the searches here.
// Sources: pto_fix/pto_fix_flags.sv
// Memories: registers
// Bugs: fix_flags_any_set:waited fix_flags_first_word:waited
module prove (
  input wire        clk,
  input wire        any_job,
  input wire        hold,
  input wire [30:0] any_fields,
  input wire        any_clr,
  input wire        any_clr_slot,
  input wire        any_gnt,
  input wire        any_rvalid,
  input wire [31:0] rdata,
  input wire [5:0]  pick_block,              // follow this block
  input wire        pick_slot                // and the map under this number
);
  reg rst_n = 1'b0;
  always @(posedge clk) rst_n <= 1'b1;

  // A job stays until it is done, with its fields; widths keep its words in L0C; a map is kept
  // under a free number. A clear is of a map, and stays until done. A grant belongs to a request,
  // and a reply to a granted read. Counts are less 1.
  reg         going = 1'b0, clearing = 1'b0, owed = 1'b0;
  reg  [1:0]  have = 2'd0;                   // maps
  reg  [30:0] fields_q;
  reg         clr_slot_q;
  wire        want_keep, slot, groups;
  wire [6:0]  src, stride;
  wire [5:0]  more, loop;                    // words of a range, less 1; from repeat to repeat
  wire [1:0]  repeats;
  assign {want_keep, slot, src, more, groups, stride, repeats, loop}
    = going ? fields_q : any_fields;
  wire [9:0]  rows     = {4'd0, more} + 10'd1;
  wire        keep     = want_keep && (going || !have[slot]);
  wire        job      = going || any_job;
  wire        clr_slot = clearing ? clr_slot_q : any_clr_slot;
  wire        clr      = clearing || (any_clr && have[clr_slot]);
  wire        done, clr_done, req, clear;
  wire        gnt      = req && any_gnt;
  wire        rvalid   = owed && any_rvalid;
  wire [3:0]  addr;
  wire [31:0] mask;
  pto_fix_flags #(.WordBits(9), .SlotBits(1)) u_flags (
    .clk_i(clk), .rst_ni(rst_n), .job_valid_i(job), .job_done_o(done), .job_hold_i(hold),
    .job_keep_i(keep), .job_slot_i(slot), .job_src_i({2'd0, src}), .job_rows_i(rows),
    .job_groups_i({7'd0, groups}), .job_src_stride_i({2'd0, stride}),
    .job_repeats_i({14'd0, repeats}),
    .job_src_loop_i({3'd0, loop}), .clr_valid_i(clr), .clr_slot_i(clr_slot), .clr_done_o(clr_done),
    .flag_req_o(req), .flag_gnt_i(gnt), .flag_clear_o(clear), .flag_addr_o(addr),
    .flag_mask_o(mask), .flag_rvalid_i(rvalid), .flag_rdata_i(rdata)
  );
  (* hierconn *) wire [2:0]  \u_flags.state_q ;
  (* hierconn *) wire [31:0] \u_flags.map_q[0] ;
  (* hierconn *) wire [31:0] \u_flags.map_q[1] ;
  (* hierconn *) wire [15:0] \u_flags.touched_q ;
  (* hierconn *) wire [15:0] \u_flags.todo_q ;
  (* hierconn *) wire [3:0]  \u_flags.word_q ;
  (* hierconn *) wire [31:0] \u_flags.want_q ;
  (* hierconn *) wire [8:0]  \u_flags.range_q ;
  (* hierconn *) wire [8:0]  \u_flags.repeat_q ;
  (* hierconn *) wire [8:0]  \u_flags.block_q ;
  (* hierconn *) wire [10:0] \u_flags.reach_q ;
  (* hierconn *) wire [7:0]  \u_flags.groups_q ;
  (* hierconn *) wire [7:0]  \u_flags.groups_left_q ;
  (* hierconn *) wire [15:0] \u_flags.repeats_q ;
  (* hierconn *) wire [15:0] \u_flags.repeats_left_q ;
  (* hierconn *) wire [1:0]  \u_flags.clr_state_q ;
  (* hierconn *) wire [15:0] \u_flags.clr_todo_q ;
  (* hierconn *) wire [3:0]  \u_flags.clr_word_q ;
  (* hierconn *) wire [31:0] \u_flags.clr_mask_q ;
  (* hierconn *) wire [31:0] \u_flags.kept_q[0] ;
  (* hierconn *) wire [31:0] \u_flags.kept_q[1] ;
  (* hierconn *) wire [31:0] \u_flags.kept_q[16] ;
  (* hierconn *) wire [31:0] \u_flags.kept_q[17] ;
  (* hierconn *) wire [15:0] \u_flags.words_q[0] ;
  (* hierconn *) wire [15:0] \u_flags.words_q[1] ;
  localparam [2:0] IDLE = 3'd0, FOLD = 3'd1, WALK = 3'd2, PICK = 3'd3, POLL = 3'd4, REPLY = 3'd5,
                   GAP = 3'd6;
  localparam [1:0] REST = 2'd0, LOAD = 2'd1, SEND = 2'd2, LAST = 2'd3;

  reg  [5:0] block;
  reg        its_slot;
  wire       word = block[5];
  wire [4:0] bit_in_word = block[4:0];
  always @(posedge clk) if (!rst_n) {block, its_slot} <= {pick_block, pick_slot};

  // Words of groups and repeats. No sum is above 511.
  function [8:0] loops;
    input [1:0] count;
    loops = (count[0] ? {3'd0, loop} : 9'd0) + (count[1] ? {2'd0, loop, 1'b0} : 9'd0);
  endfunction
  function [8:0] steps;
    input count;
    steps = count ? {2'd0, stride} : 9'd0;
  endfunction

  // What was seen of the followed block, and of its flag word.
  reg         open = 1'b0;                   // the job was not held back in a clock
  reg         seen = 1'b0;                   // its flag was read as set
  reg         polled = 1'b0;                 // so were all of the word
  reg         kept;                          // the block is one of the op under its_slot
  reg         cleared = 1'b0;                // its word was cleared
  reg  [3:0]  owed_word;
  reg  [31:0] owed_mask;
  wire        take  = req && gnt;
  wire        reply = owed && rvalid && owed_word == {3'd0, word};
  wire        set   = owed_mask[bit_in_word] && rdata[bit_in_word];
  wire        ours  = clr && clr_slot == its_slot;
  wire        clears = take && clear && addr == {3'd0, word};
  always @(posedge clk) if (rst_n) begin
    going      <= job && !done;
    clearing   <= clr && !clr_done;
    fields_q   <= {keep, slot, src, more, groups, stride, repeats, loop};
    clr_slot_q <= clr_slot;
    open       <= job && !done && (open || !hold);
    seen       <= job && !done && (seen || (reply && set));
    polled     <= job && !done && (polled || (reply && (rdata & owed_mask) == owed_mask));
    if (take && !clear) {owed, owed_word, owed_mask} <= {1'b1, addr, mask};
    else if (rvalid) owed <= 1'b0;
    if (done && keep) have[slot] <= 1'b1;
    if (clr_done) have[clr_slot] <= 1'b0;
    if (done && keep && slot == its_slot) kept <= in_map;
    if (ours) cleared <= !clr_done && (cleared || clears);
  end

  // The request of the clock before, if it was not granted. Clocks in which nothing is requested or
  // awaited, and nothing prevents it.
  reg         waits = 1'b0;
  reg  [36:0] request_q;
  reg  [5:0]  quiet = 6'd0;
  reg  [2:0]  clr_quiet = 3'd0;
  always @(posedge clk) if (rst_n) begin
    waits     <= req && !gnt;
    request_q <= {clear, addr, mask};
    quiet     <= (req || owed || clr || hold || !going) ? 6'd0 : quiet + 6'd1;
    clr_quiet <= (req || !clr) ? 3'd0 : clr_quiet + 3'd1;
  end

  // The walk, as the part has it.
  wire        walking = \u_flags.state_q == WALK;
  wire        gs    = \u_flags.groups_q [0];
  wire [1:0]  rs    = \u_flags.repeats_q [1:0];
  wire        g_at  = gs - \u_flags.groups_left_q [0];
  wire [1:0]  r_at  = rs - \u_flags.repeats_left_q [1:0];
  wire [8:0]  span  = rows[8:0] + (gs ? 9'd0 : steps(groups))
                    + (rs == 2'd0 ? loops(repeats) : 9'd0);
  wire [31:0] map_word = word ? \u_flags.map_q[1] : \u_flags.map_q[0] ;
  wire        in_map   = \u_flags.touched_q [word] && map_word[bit_in_word];
  wire        after   = \u_flags.state_q >= PICK;
  wire        asking  = \u_flags.state_q >= POLL;

  // The kept maps.
  wire [15:0] words_kept = its_slot ? \u_flags.words_q[1] : \u_flags.words_q[0] ;
  wire [31:0] mask_kept  = its_slot ? (word ? \u_flags.kept_q[17] : \u_flags.kept_q[16] )
                                    : (word ? \u_flags.kept_q[1] : \u_flags.kept_q[0] );
  wire        in_kept    = words_kept[word] && mask_kept[bit_in_word];
  wire        loads      = \u_flags.clr_state_q == SEND && \u_flags.clr_word_q == {3'd0, word};
  wire        pends      = req && clear && addr == {3'd0, word};
  wire        to_clear   = \u_flags.clr_state_q != REST && \u_flags.clr_todo_q [word];

  always @* begin
    lemma_up: assert(rst_n || {going, clearing, owed, have, open, seen, polled, cleared} == 9'd0);
    if (rst_n) begin
      lemma_job: assert((\u_flags.state_q != IDLE) == going && \u_flags.state_q <= GAP);
      lemma_counts: assert(!going || ((\u_flags.groups_q == {7'd0, groups}
                                       || \u_flags.groups_q == 8'd0)
                                      && (\u_flags.repeats_q == {14'd0, repeats}
                                          || \u_flags.repeats_q == 16'd0)));
      lemma_left: assert(!walking || (\u_flags.groups_left_q <= \u_flags.groups_q
                                      && \u_flags.repeats_left_q <= \u_flags.repeats_q ));
      lemma_reach: assert(!going || \u_flags.reach_q == {2'd0, span} + 11'd7);
      lemma_first: assert(\u_flags.state_q != FOLD
                          || (\u_flags.range_q == {2'd0, src} && \u_flags.touched_q == 16'd0
                              && \u_flags.repeat_q == {2'd0, src}));
      lemma_range: assert(!walking
                          || (\u_flags.repeat_q == {2'd0, src} + loops(r_at)
                              && \u_flags.range_q == {2'd0, src} + loops(r_at) + steps(g_at)));
      lemma_block: assert(!walking
                          || (\u_flags.block_q >= {3'd0, \u_flags.range_q [8:3]}
                              && {\u_flags.block_q , 3'd0}
                                 <= {3'd0, \u_flags.range_q } + {3'd0, span} - 12'd1));
      lemma_words: assert((\u_flags.state_q == IDLE || \u_flags.touched_q [15:2] == 14'd0)
                          && (!(walking || after) || !\u_flags.touched_q [word]
                              || map_word != 32'd0));
      lemma_free: assert(!going || !keep || !have[slot]);
      lemma_have: assert(!clearing || have[clr_slot_q]);
      lemma_todo: assert(!after || (\u_flags.todo_q != 16'd0
                         && (\u_flags.todo_q & ~\u_flags.touched_q ) == 16'd0));
      lemma_want: assert(!asking || (\u_flags.todo_q [\u_flags.word_q ] && \u_flags.word_q < 4'd2
                         && (\u_flags.word_q != {3'd0, word} || \u_flags.want_q == map_word)));
      lemma_reply: assert((\u_flags.state_q == REPLY) == ((req && !clear) || owed)
                          && !(req && !clear && owed));
      lemma_owed: assert((!owed || {owed_word, owed_mask} == {\u_flags.word_q , \u_flags.want_q })
                         && (!req || clear
                             || {addr, mask} == {\u_flags.word_q , \u_flags.want_q }));
      lemma_seen: assert(!after || \u_flags.todo_q [word] || !in_map || seen);
      lemma_polled: assert(!after || !\u_flags.todo_q [word] || !polled);
      lemma_keep: assert(!after || !keep || slot != its_slot || \u_flags.todo_q [word]
                         || !\u_flags.touched_q [word] || mask_kept == map_word);
      lemma_kept: assert(!have[its_slot] || (in_kept == kept && words_kept[15:2] == 14'd0
                         && words_kept != 16'd0 && (!words_kept[word] || mask_kept != 32'd0)));
      lemma_open: assert(!asking || open);
      lemma_clear: assert((\u_flags.clr_state_q != REST) == clearing
                          && (!(req && clear) || (clearing && \u_flags.clr_state_q != REST))
                          && (\u_flags.clr_state_q != LAST || (req && clear)));
      lemma_cleared: assert(!cleared || (clearing && clr_slot_q == its_slot));
      lemma_clears: assert(!ours || !clearing
                           || {2'd0, words_kept[word]}
                              == {2'd0, to_clear} + {2'd0, loads} + {2'd0, pends}
                                 + {2'd0, cleared});
      lemma_masks: assert(!ours || ((!loads || \u_flags.clr_mask_q == mask_kept)
                          && (!pends || mask == mask_kept)));
      lemma_last: assert(!ours || !clearing
                         || (\u_flags.clr_todo_q [15:2] == 14'd0
                             && (\u_flags.clr_todo_q & ~words_kept) == 16'd0
                             && (\u_flags.clr_state_q != LOAD || \u_flags.clr_todo_q != 16'd0)
                             && (\u_flags.clr_state_q != LAST || \u_flags.clr_todo_q == 16'd0)));
      lemma_quiet: assert(quiet <= (\u_flags.state_q == FOLD
                                    ? 6'd1 + !gs + (rs == 2'd0)
                                    : walking ? 6'd4 + {2'd0, r_at, g_at, 1'b0}
                                                + (\u_flags.block_q [5] && !\u_flags.range_q [8])
                                    : 6'd36 + {3'd0, \u_flags.state_q }));
      stable: assert(!waits || (req && {clear, addr, mask} == request_q));
      waited: assert(!done || !in_map || seen || (reply && set));
      polls_exact: assert(!(req && !clear) || addr != {3'd0, word}
                          || (mask[bit_in_word] == in_map && mask != 32'd0));
      polls_a_word: assert(!(req && !clear) || addr < 4'd2);
      polls_once: assert(!(req && !clear && addr == {3'd0, word}) || !polled);
      polls_for_a_job: assert(!(req && !clear) || job);
      held: assert(!(req && !clear) || open);
      clears_exact: assert(!(ours && req && clear && addr == {3'd0, word})
                           || (mask[bit_in_word] == kept && mask != 32'd0 && !cleared));
      clears_a_word: assert(!(ours && req && clear) || addr < 4'd2);
      clears_on_order: assert(!(req && clear) || clr);
      cleared_all: assert(!(clr_done && ours) || !kept || cleared || clears);
      asks_in_time: assert(quiet < 6'd45);
      clears_in_time: assert(clr_quiet < 3'd4);
      reach_folded: assert(!(done && groups && repeats != 2'd0 && !gs && rs == 2'd0));
      reach_walked: assert(!(done && gs && rs != 2'd0 && in_map));
      reach_retry: assert(!(req && !clear && addr == {3'd0, word} && seen && !polled));
      reach_clear_of_two: assert(!(ours && clr_done && cleared && kept && addr != {3'd0, word}));
      reach_both: assert(!(ours && pends && owed && kept && have == 2'b01));
    end
  end
endmodule

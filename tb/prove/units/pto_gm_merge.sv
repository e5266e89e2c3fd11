// SPDX-License-Identifier: Apache-2.0
//
// Properties of pto_gm_merge on words of 8 bytes, with up to four of them inside: a word stays
// until it is taken; the words that leave are those taken and not dropped, in order, each once,
// with their strobes and their WLAST; each holds what was put in, combined with the beat that it
// took or with what its bus word has after the words that it joins; it waits only where it must.
// All words are followed; of their bytes, byte Place. Updates are of integers of 8 bits:
// tests/arith compares the arithmetic of all types.
// Sources: common/gm/pto_gm_merge.sv common/gm/pto_gm_combine.sv
// Variant: Place=5
// Bugs: store_join_reads_beat:beat_exact store_join_any_word:beat_exact
// Bugs: w_valid_waits:no_dead_lock bubble_after_w_beat:taken_exact
// Bugs: join_overwrites_a_waiting_word:room stage_overwritten_when_stalled:read_value
// Bugs: join_takes_the_word_before:joined_value
`include "pto_records.vh"

module prove #(
  parameter integer Bytes = 8,               // of a word
  parameter integer Place = 5                // number of the byte to follow
) (
  input wire               clk,
  input wire               word_valid,
  input wire [8*Bytes-1:0] word,
  input wire [Bytes-1:0]   strb,
  input wire               last,
  input wire               atomic,           // updates GM, of integers of 8 bits
  input wire [1:0]         op,
  input wire               go_valid,
  input wire               drop,
  input wire               joins,
  input wire               beat_valid,
  input wire [8*Bytes-1:0] beat,
  input wire               wready
);
  localparam [1:0] PLAIN = 2'd0, READ = 2'd1, JOINED = 2'd2;
  reg rst_n = 1'b0;
  always @(posedge clk) rst_n <= 1'b1;
  wire [2:0] which = Place[2:0];

  wire [2:0]         kind = {atomic, 1'b0, atomic};
  wire pto_atomic_t  update;
  assign update = {1'b0, op, kind};
  wire               taken, go_ready, beat_ready, wvalid, wlast;
  wire [8*Bytes-1:0] wdata;
  wire [Bytes-1:0]   wstrb;
  pto_gm_merge #(.DataWidth(8*Bytes)) u_merge (
    .clk_i(clk), .rst_ni(rst_n), .word_valid_i(word_valid), .word_ready_o(taken), .word_i(word),
    .word_strb_i(strb), .word_last_i(last), .word_update_i(update), .go_valid_i(go_valid),
    .go_drop_i(drop), .go_joins_i(joins), .go_ready_o(go_ready), .beat_valid_i(beat_valid),
    .beat_ready_o(beat_ready), .beat_i(beat), .m_axi_wvalid(wvalid), .m_axi_wready(wready),
    .m_axi_wdata(wdata), .m_axi_wstrb(wstrb), .m_axi_wlast(wlast)
  );
  (* hierconn *) wire [3:0]         \u_merge.valid_q ;
  (* hierconn *) wire [3:0]         \u_merge.last_q ;
  (* hierconn *) wire [3:0]         \u_merge.chain_q ;
  (* hierconn *) wire [4*Bytes-1:0] \u_merge.strb_q ;
  (* hierconn *) wire               \u_merge.first_q ;
  (* hierconn *) wire [8*Bytes-1:0] \u_merge.old_q ;
  (* hierconn *) wire [61:0]        \u_merge.gen_lane[0].u_lane.a0_q ;
  (* hierconn *) wire [61:0]        \u_merge.gen_lane[1].u_lane.a0_q ;
  (* hierconn *) wire [37:0]        \u_merge.gen_lane[0].u_lane.a1_q ;
  (* hierconn *) wire [37:0]        \u_merge.gen_lane[1].u_lane.a1_q ;
  (* hierconn *) wire [34:0]        \u_merge.gen_lane[0].u_lane.a2_q ;
  (* hierconn *) wire [34:0]        \u_merge.gen_lane[1].u_lane.a2_q ;
  (* hierconn *) wire               \u_merge.gen_lane[0].u_lane.on0_q ;
  (* hierconn *) wire               \u_merge.gen_lane[1].u_lane.on0_q ;
  (* hierconn *) wire               \u_merge.gen_lane[0].u_lane.on1_q ;
  (* hierconn *) wire               \u_merge.gen_lane[1].u_lane.on1_q ;
  (* hierconn *) wire               \u_merge.gen_lane[0].u_lane.on2_q ;
  (* hierconn *) wire               \u_merge.gen_lane[1].u_lane.on2_q ;

  function [7:0] combined;
    input signed [7:0] old;
    input signed [7:0] y;
    input        [1:0]       op;
    combined = op == 2'd0 ? old + y : (old < y) == (op == 2'd1) ? y : old;
  endfunction

  // The byte after the updates of all words taken, and that of the word that is taken.
  reg         first = 1'b1;                  // the next word is the first of its burst
  reg         known = 1'b0;                  // there was a word with a beat
  reg  [7:0] now;
  wire             join_it = joins && first;
  wire             read_it = atomic && !join_it;
  wire             send   = rst_n && taken && !drop;
  wire             leave  = rst_n && wvalid && wready;
  wire             writes = strb[which];
  wire [7:0] put    = word[8*which +: 8];
  wire [7:0] held_by_gm = beat[8*which +: 8];
  wire [7:0] old    = join_it ? now : held_by_gm;
  wire [7:0] result = atomic ? combined(old, put, op) : put;

  // The same with the old value that the part has, for lemmas.
  reg  [7:0]   part_now;
  reg  [32-1:0] part_data;
  wire [7:0]   part_old    = join_it ? \u_merge.old_q [8*which +: 8] : held_by_gm;
  wire [7:0]   part_result = atomic ? combined(part_old, put, op) : put;

  // Words inside, the oldest first.
  integer           k;
  reg [2:0]         count = 3'd0;
  reg [3:0]         mine = 4'd0;             // they lie in the bus word of the last one combined
  reg [3:0]         lasts;
  reg [7:0]         how;
  reg [4*Bytes-1:0] strobes;
  reg [32-1:0] data;
  wire [2:0]        place = count - {2'd0, leave};
  always @(posedge clk) if (rst_n) begin
    count <= count + {2'd0, send} - {2'd0, leave};
    if (taken) first <= last;
    if (send && read_it) known <= 1'b1;
    if (send && atomic) begin
      now <= writes ? result : old;
      if (writes || read_it) part_now <= writes ? part_result : part_old;
    end
    mine <= (send && read_it ? 4'd0 : leave ? mine >> 1 : mine) | ({3'd0, send && atomic} << place);
    for (k = 0; k < 4; k = k + 1)
      if (send && place == k) begin
        lasts[k]                   <= last;
        how[2*k +: 2]              <= !atomic ? PLAIN : join_it ? JOINED : READ;
        strobes[Bytes*k +: Bytes]  <= strb;
        data[8*k +: 8]     <= result;
        part_data[8*k +: 8] <= part_result;
      end else if (leave && k < 3) begin
        lasts[k]                   <= lasts[k + 1];
        how[2*k +: 2]              <= how[2*k + 2 +: 2];
        strobes[Bytes*k +: Bytes]  <= strobes[Bytes*(k + 1) +: Bytes];
        data[8*k +: 8]     <= data[8*(k + 1) +: 8];
        part_data[8*k +: 8] <= part_data[8*(k + 1) +: 8];
      end
  end

  // Bytes of the bus word that words inside write.
  reg [Bytes-1:0] coming;
  always @* begin
    coming = {Bytes{1'b0}};
    for (k = 0; k < 4; k = k + 1)
      if (k < count && mine[k]) coming = coming | strobes[Bytes*k +: Bytes];
  end
  wire overlaps = join_it && (strb & coming) != {Bytes{1'b0}};
  wire alone    = count == {2'd0, wvalid};   // no word inside but one that is offered
  wire room_now = wready || (!atomic && alone ? !wvalid : count != 3'd4);

  reg               held = 1'b0;             // a word was offered and not taken
  reg [8*Bytes-1:0] held_data;
  reg [Bytes:0]     held_rest;
  reg [2:0]         pause = 3'd0;            // clocks with a word inside, and none offered
  reg               passed = 1'b0;           // a plain word was taken that passes the stages
  reg               waited = 1'b0;           // a word joined after it had waited for its bytes
  reg               delayed = 1'b0;
  always @(posedge clk) if (rst_n) begin
    held      <= wvalid && !wready;
    held_data <= wdata;
    held_rest <= {wstrb, wlast};
    pause     <= count == 3'd0 || wvalid ? 3'd0 : pause + 3'd1;
    passed    <= send && !atomic && alone;
    delayed   <= word_valid && go_valid && !drop && overlaps;
    waited    <= send && join_it && delayed;
  end

  // Whether the byte is written by the word that leaves, and differs.
  wire wrong = wstrb[which]
            && wdata[8*which +: 8] != data[7:0];

  // What differs between the words inside and those in the stages, and the old value.
  wire        upper = which[2];     // group of 4 bytes
  wire [31:0] word_0 = upper ? \u_merge.gen_lane[1].u_lane.a0_q [31:0]
                             : \u_merge.gen_lane[0].u_lane.a0_q [31:0];
  wire [31:0] word_1 = upper ? \u_merge.gen_lane[1].u_lane.a1_q [31:0]
                             : \u_merge.gen_lane[0].u_lane.a1_q [31:0];
  wire [31:0] word_2 = upper ? \u_merge.gen_lane[1].u_lane.a2_q [31:0]
                             : \u_merge.gen_lane[0].u_lane.a2_q [31:0];
  wire [31:0] word_3 = upper ? wdata[63:32] : wdata[31:0];
  wire [3:0]  on = {1'b1, upper ? \u_merge.gen_lane[1].u_lane.on2_q
                                : \u_merge.gen_lane[0].u_lane.on2_q ,
                    upper ? \u_merge.gen_lane[1].u_lane.on1_q
                          : \u_merge.gen_lane[0].u_lane.on1_q ,
                    upper ? \u_merge.gen_lane[1].u_lane.on0_q
                          : \u_merge.gen_lane[0].u_lane.on0_q };
  wire [127:0] words = {word_3, word_2, word_1, word_0};
  reg [2:0]    stages;
  reg [1:0]    at;
  reg [3:0]    bad_last, bad_mine, bad_strb, bad_on, bad_stage, bad_data;
  reg          bad_old, twice, seen, its;
  always @* begin
    stages = 3'd0;
    {bad_last, bad_mine, bad_strb, bad_on, bad_stage} = 20'd0;
    for (k = 3; k >= 0; k = k - 1)
      if (\u_merge.valid_q [k]) begin
        at = stages[1:0];
        bad_last[k]  = \u_merge.last_q [k] != lasts[at];
        bad_mine[k]  = \u_merge.chain_q [k] != mine[at];
        bad_strb[k]  = \u_merge.strb_q [Bytes*k +: Bytes] != strobes[Bytes*at +: Bytes];
        bad_on[k]    = !on[k] && strobes[Bytes*at + 4*upper +: 4] != 4'd0;
        its          = strobes[Bytes*at + which];
        bad_stage[k] = its && words[32*k + 8*which[1:0] +: 8]
                              != part_data[8*at +: 8];
        stages       = stages + 3'd1;
      end
    {bad_old, twice, seen, bad_data} = 7'd0;
    for (k = 0; k < 4; k = k + 1) begin
      its         = k < count && strobes[Bytes*k + which];
      bad_data[k] = its && part_data[8*k +: 8] != data[8*k +: 8];
      if (its && mine[k]) begin
        twice   = seen;
        seen    = 1'b1;
        bad_old = part_data[8*k +: 8] != part_now;
      end
    end
    if (!seen) bad_old = \u_merge.old_q [8*which +: 8] != part_now;
  end

  always @* begin
    assume(op != 2'd3);
    // A burst that joins is atomic, and one before it took a beat (pto_gm_write).
    assume(!join_it || (atomic && known));
    lemma_reset: assert(rst_n || (count == 3'd0 && mine == 4'd0 && first && !known));
    if (rst_n) begin
      lemma_count: assert(count == stages);
      lemma_first: assert(\u_merge.first_q == first);
      lemma_strobes: assert(bad_strb == 4'd0);
      lemma_rest: assert(bad_last == 4'd0 && bad_mine == 4'd0);
      lemma_on: assert(bad_on == 4'd0);
      lemma_known: assert(known || mine == 4'd0);
      lemma_twice: assert(!twice);
      lemma_stage_0: assert(!bad_stage[0]);
      lemma_stage_1: assert(!bad_stage[1]);
      lemma_stage_2: assert(!bad_stage[2]);
      lemma_stage_3: assert(!bad_stage[3]);
      lemma_old: assert(!known || !bad_old);
      lemma_now: assert(!known || part_now == now);
      lemma_data_3: assert(!bad_data[3]);
      lemma_data_2: assert(!bad_data[2]);
      lemma_data_1: assert(!bad_data[1]);
      lemma_data_0: assert(!bad_data[0]);
      stable: assert(!held || (wvalid && wdata == held_data && {wstrb, wlast} == held_rest));
      taken_exact: assert(taken == (word_valid && go_valid && (drop || room_now)
                                    && (!read_it || beat_valid) && !overlaps));
      beat_exact: assert(beat_ready == (taken && read_it));
      go_exact: assert(go_ready == (taken && last));
      room: assert(count <= 3'd4);
      only_taken: assert(!wvalid || count != 3'd0);
      last_exact: assert(!wvalid || wlast == lasts[0]);
      strobes_exact: assert(!wvalid || wstrb == strobes[Bytes-1:0]);
      plain_value: assert(!wvalid || how[1:0] != PLAIN || !wrong);
      read_value: assert(!wvalid || how[1:0] != READ || !wrong);
      joined_value: assert(!wvalid || how[1:0] != JOINED || !wrong);
      no_dead_lock: assert(pause <= 3'd3);
      plain_at_once: assert(!passed || wvalid);
      reach_full: assert(!(count == 3'd4 && !wready && word_valid && go_valid && beat_valid));
      reach_read: assert(!(leave && how[1:0] == READ && wstrb[4*upper +: 4] == 4'hC));
      reach_joined: assert(!(leave && how[1:0] == JOINED && wstrb[4*upper +: 4] == 4'hC
                             && mine[1:0] == 2'b11));
      reach_waited: assert(!waited);
      reach_join_of_later: assert(!(leave && how[1:0] == JOINED && !mine[0]));
      reach_drop_in_stall: assert(!(taken && drop && held && read_it));
      reach_mixed: assert(!(count == 3'd4 && how[1:0] == JOINED && how[3:2] == PLAIN));
    end
  end
endmodule

// SPDX-License-Identifier: Apache-2.0
//
// Front of the write-back unit: descriptor queue, D rules, unit flags, parameters, numbers, errors
// and the report of ops. A legal op that moves data is handed over once its flags are set and its
// parameters are in a bank of the cache; the next op is checked, and its flags and parameters are
// fetched, while the ops before it stream. A NOP or a bad op goes straight to the report. An op
// with unreadable parameters is reported with status LOCAL and never handed over. The first error
// of an op is kept; a later op may be done with its accesses first, its report waits.
// Order: flags are polled only when no op before still has to clear one of the same blocks; they
// are cleared after the op has finished and the report before was taken, then done is offered. An
// op that ends with an error has retired too: its flags are cleared as well.
// Throughput: one op per 5 to 9 clocks (pto_fix_check), one done per clock. Latency: descriptor to
// op_valid 6 clocks without flags and parameters; flags and parameters (in parallel) add the
// latencies of their modules; end to done 1 clock, more with flags to clear.
// Limits: two ops with scalar or vector parameters handed over whose words have not all been read
// (the banks), 8 ops in all; errors of one op in one clock: that of port a counts, then b, c, d;
// SrcDataWidth 512. Spec: CONTRACT; fixpipe.md 1, 5, 6, 8, 10.
//
//   clk         _/~\_/~\_/~\_/~\_/~\_/~\_
//   op_valid    _/~~~~~~~\_______________     stable, with its payload, until op_ready
//   op_ready    _____/~~~\_______________
//   end_valid   _____________/~~~\_______     last access of the oldest op
//   done_valid  _________________/~~~~~~~     no flags to clear
`default_nettype none
`include "pto_records.vh"

module pto_fix_front #(
  parameter integer TagWidth       = 8,      // bits of a tag
  parameter integer UbSize         = `PTO_SIZE_UB,   // bytes of one UB sub-block
  parameter integer L1Size         = `PTO_SIZE_L1,   // bytes of L1
  parameter integer L0cSize        = `PTO_SIZE_L0C,  // bytes of L0C, 2^k, at most 256 KiB (flags)
  parameter integer FbSegmentSize  = `PTO_FB_SEGMENT_BYTES,  // of FB, at most 4096 (cache)
  parameter integer QueueDepth     = 4,      // descriptors queued before the check, a power of two
  parameter integer B8ScalarUnsigned = 0,    // 1: b8 with a scalar payload is unsigned
  parameter integer ModesA5        = 0       // 1: channel split only to GM and without unit flag
) (
  input  wire                      clk_i,         // clock
  input  wire                      rst_ni,        // asynchronous reset, active low
  input  wire                      desc_valid_i,  // a descriptor is offered
  output wire                      desc_ready_o,  // it is taken
  input  wire [`PTO_DESC_BITS-1:0] desc_i,        // the descriptor
  input  wire [TagWidth-1:0]       desc_tag_i,    // its tag
  output wire                      done_valid_o,  // the oldest op is done
  input  wire                      done_ready_i,  // the report is taken
  output wire [TagWidth-1:0]       done_tag_o,    // its tag
  output wire [2:0]                done_status_o, // status code
  output wire [7:0]                done_rule_o,   // violated rule or 0
  output wire [39:0]               done_addr_o,   // address of the first bad access or 0
  output wire                      busy_o,        // a descriptor was taken and is not done
  output wire                      par_req_o,     // parameter read, stable until granted
  input  wire                      par_gnt_i,     // request taken
  output wire [2:0]                par_space_o,   // memory, FB
  output wire [19:0]               par_addr_o,    // byte address, word aligned
  input  wire                      par_rvalid_i,  // reply, in order
  input  wire [511:0]              par_rdata_i,   // word
  input  wire                      par_err_i,     // the read failed, with the reply
  output wire                      flag_req_o,    // unit flags: request, stable until granted
  input  wire                      flag_gnt_i,    // request taken
  output wire                      flag_clear_o,  // 0 read a word of flags, 1 clear flags
  output wire [3:0]                flag_addr_o,   // word: flags of blocks 32*addr to 32*addr + 31
  output wire [31:0]               flag_mask_o,   // flags waited for, or cleared; not 0
  input  wire                      flag_rvalid_i, // reply to a read, in order
  input  wire [31:0]               flag_rdata_i,  // flags of the word
  output wire                      op_valid_o,    // an op to be streamed, stable until taken
  input  wire                      op_ready_i,    // it is taken
  output wire [`PTO_DESC_BITS-1:0] op_desc_o,     // its descriptor
  output wire [3:0]                op_id_o,       // its number, 0 to 7
  output wire                      op_bank_o,     // its bank for look-ups
  input  wire pto_err_t            err_a_i,       // an access failed
  input  wire pto_err_t            err_b_i,       // second port, as a
  input  wire pto_err_t            err_c_i,       // third port, as a
  input  wire pto_err_t            err_d_i,       // fourth port, as a
  output wire [`PTO_NUM_ACTIVE-1:0] err_o,        // per op: an access failed, from that clock on
  input  wire [1:0]                end_valid_i,   // per port: the last access of an op is done
  input  wire [7:0]                end_id_i,      // of this op
  input  wire                      prm_rd_i,      // look up the parameters of 16 channels
  input  wire                      prm_bank_i,    // bank of the op
  input  wire [7:0]                prm_group_i,   // channel div 16
  input  wire                      prm_end_i,     // the last look-up of the op
  output wire [16*36-1:0]          prm_quant_o,   // next clock, held; lane: offset field, scale
  output wire [16*19-1:0]          prm_alpha_o    // the same; lane: bits 31 to 13 of alpha
);
  localparam integer NumActive = 8;          // ops after the check, a power of two
  localparam integer UsedBits  = `PTO_FIX_L2_LSB + `PTO_FIX_L2_CW;  // bits above are reserved
  localparam integer SlotBits  = $clog2(NumActive);
  localparam integer WordBits  = $clog2(L0cSize) - 6;    // of an index of 64-byte L0C words
  localparam integer BlockBits = WordBits - 3;           // of an index of 512-byte L0C blocks

  // Parameters out of range name a module that does not exist, in every tool an error.
  generate
    if (L0cSize > 262144 || L0cSize != (64 << WordBits) || L0cSize < 32768
        || FbSegmentSize > 4096) begin : gen_bad_size
      pto_error_l0c_or_fb_size u_error ();
    end
  endgenerate

  // ---- queue ----
  // In reset no handshake may be seen, so ready comes up with the first clock.
  reg  up_q;
  wire queue_ready;
  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) up_q <= 1'b0;
    else up_q <= 1'b1;
  end
  assign desc_ready_o = up_q && queue_ready;

  wire                queue_valid, queue_take;
  wire [UsedBits-1:0] queue_desc;
  wire [TagWidth-1:0] queue_tag;

  pto_fifo #(
    .Width(UsedBits + TagWidth),
    .Depth(QueueDepth)
  ) u_queue (
    .clk_i, .rst_ni,
    .wr_valid_i (desc_valid_i && up_q),
    .wr_ready_o (queue_ready),
    .wr_data_i  ({desc_tag_i, desc_i[UsedBits-1:0]}),
    .rd_valid_o (queue_valid),
    .rd_ready_i (queue_take),
    .rd_data_o  ({queue_tag, queue_desc})
  );

  // ---- check ----
  wire                check_valid, check_take, check_idle, check_bad;
  wire [7:0]          check_rule;
  wire [WordBits-1:0] check_last_word;
  assign queue_take = check_take;

  pto_fix_check #(
    .UbSize        (UbSize),
    .L1Size        (L1Size),
    .L0cSize       (L0cSize),
    .FbSegmentSize (FbSegmentSize),
    .UsedBits      (UsedBits),
    .WordBits      (WordBits),
    .ModesA5       (ModesA5)
  ) u_check (
    .clk_i, .rst_ni,
    .desc_valid_i    (queue_valid),
    .desc_i          (queue_desc),
    .job_valid_o     (check_valid),
    .job_ready_i     (check_take),
    .job_idle_o      (check_idle),
    .job_bad_o       (check_bad),
    .job_rule_o      (check_rule),
    .job_last_word_o (check_last_word)
  );

  // ---- the op with flags and parameters being fetched ----
  reg                 prep_q;                // there is one
  reg [UsedBits-1:0]  prep_desc_q;
  reg [TagWidth-1:0]  prep_tag_q;
  reg [BlockBits-1:0] prep_last_q;           // last L0C block it touches
  reg                 flag_todo_q;           // its flags have not all been read as set
  reg                 load_todo_q;           // its parameters are not in the cache
  reg                 bank_q;                // bank of this op, or of the next with parameters
  reg                 banked_q;              // it has parameters
  reg                 load_bad_q;            // they could not be read
  reg [19:0]          load_addr_q;           // address of the bad word

  wire ret_ready;                            // room for a report
  wire ready   = prep_q && !flag_todo_q && !load_todo_q;
  wire dispatch    = op_valid_o && op_ready_i;
  wire drop    = ready && load_bad_q;        // never handed over
  wire leave   = dispatch || drop;
  wire take_bank = dispatch && banked_q;
  // Room for the report is guaranteed from here on: only this op can take it.
  wire may     = check_valid && ret_ready && !prep_q;
  wire enter   = may && !check_idle;
  wire skip    = may && check_idle;
  assign check_take = may;

  assign op_valid_o = ready && !load_bad_q;
  assign op_bank_o  = bank_q;
  assign op_desc_o  = {{(`PTO_DESC_BITS - UsedBits){1'b0}}, prep_desc_q};

  // Codes of the vector modes are even below 16 and odd above, of the scalar modes the others;
  // 0, 1 and 16 have no payload (fixpipe.md 4).
  wire [5:0] new_quant = queue_desc[`PTO_FIX_QUANT];
  wire       new_scaled = new_quant != `PTO_QUANT_NO_CONVERT && new_quant != `PTO_QUANT_F32_F16
                       && new_quant != `PTO_QUANT_F32_BF16;
  wire       new_banked = new_scaled || queue_desc[`PTO_FIX_RELU] > 3'd1;
  wire       new_flagged = queue_desc[`PTO_FIX_UNIT_FLAG] != 3'd0;

  wire [WordBits-1:0]  prep_word  = prep_desc_q[`PTO_FIX_SRC_ADDR_LSB+6 +: WordBits];
  wire [BlockBits-1:0] prep_first = prep_word[WordBits-1:3];
  wire                 prep_clear = prep_desc_q[`PTO_FIX_UNIT_FLAG_LSB +: 2] == 2'd3;
  wire [11:0]          prep_last_n = prep_desc_q[`PTO_FIX_N_LSB +: 12] - 12'd1;
  wire                 prep_loop  = prep_desc_q[`PTO_FIX_LOOP3_EN];
  wire [15:0]          prep_last_r = prep_loop ? prep_desc_q[`PTO_FIX_LOOP3_COUNT_LSB +: 16] - 16'd1
                                   : 16'd0;

  wire        load_done, load_bad, flag_done;
  wire [19:0] load_addr;

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      prep_q      <= 1'b0;
      flag_todo_q <= 1'b0;
      load_todo_q <= 1'b0;
      load_bad_q  <= 1'b0;
      bank_q      <= 1'b0;
    end else begin
      if (enter) begin
        prep_q      <= 1'b1;
        flag_todo_q <= new_flagged;
        load_todo_q <= new_banked;
        load_bad_q  <= 1'b0;
      end else if (leave) begin
        prep_q <= 1'b0;
      end
      if (flag_done) flag_todo_q <= 1'b0;
      if (load_done) begin
        load_todo_q <= 1'b0;
        load_bad_q  <= load_bad;
      end
      if (take_bank) bank_q <= !bank_q;
    end
  end

  always @(posedge clk_i) begin
    if (enter) begin
      prep_desc_q <= queue_desc;
      prep_tag_q  <= queue_tag;
      prep_last_q <= check_last_word[WordBits-1:3];
      banked_q    <= new_banked;
    end
    if (load_done) load_addr_q <= load_addr;
  end

  // ---- reports in order; slots from the hand-over, or the end of the check, to done ----
  localparam [NumActive-1:0] ONE = {{(NumActive - 1){1'b0}}, 1'b1};
  reg [SlotBits:0]              new_ptr_q, old_ptr_q;
  reg [NumActive-1:0]           end_q;       // its last access is done, or it has none
  reg [NumActive-1:0]           err_q;       // an access failed, or the parameters were unreadable
  reg [NumActive-1:0]           bad_q;       // a rule is violated
  reg [NumActive-1:0]           clear_q;     // flags are to be cleared
  reg [TagWidth-1:0]            tag_q    [0:NumActive-1];
  reg [7:0]                     rule_q   [0:NumActive-1];
  reg [2:0]                     status_q [0:NumActive-1];
  reg [39:0]                    addr_q   [0:NumActive-1];
  reg [NumActive*BlockBits-1:0] first_q;     // L0C blocks it touches: the first
  reg [NumActive*BlockBits-1:0] last_q;      // and the last
  reg                           cleared_q;   // the flags of the oldest op are cleared

  wire [SlotBits-1:0] new_slot = new_ptr_q[SlotBits-1:0];
  wire [SlotBits-1:0] old_slot = old_ptr_q[SlotBits-1:0];
  assign ret_ready  = new_ptr_q != {~old_ptr_q[SlotBits], old_slot};
  wire   ret_valid  = new_ptr_q != old_ptr_q;
  wire   push       = leave || skip;

  wire old_ended    = end_q[old_slot];
  wire clr_valid    = ret_valid && clear_q[old_slot] && old_ended && !cleared_q;
  wire clr_done;
  wire retire       = done_valid_o && done_ready_i;

  assign op_id_o       = {1'b0, new_slot};
  assign done_valid_o  = ret_valid && old_ended && (cleared_q || !clear_q[old_slot]);
  assign done_tag_o    = tag_q[old_slot];
  assign done_status_o = bad_q[old_slot] ? `PTO_ST_RULE
                       : err_q[old_slot] ? status_q[old_slot] : `PTO_ST_OK;
  assign done_rule_o   = bad_q[old_slot] ? rule_q[old_slot] : 8'd0;
  assign done_addr_o   = err_q[old_slot] ? addr_q[old_slot] : 40'd0;
  assign busy_o        = queue_valid || prep_q || ret_valid;

  // The ports of errors and ends as vectors, a low.
  wire [3:0]   err_valid  = {err_d_i.valid, err_c_i.valid, err_b_i.valid, err_a_i.valid};
  wire [11:0]  err_id     = {err_d_i.id[2:0], err_c_i.id[2:0], err_b_i.id[2:0], err_a_i.id[2:0]};
  wire [11:0]  err_status = {err_d_i.status, err_c_i.status, err_b_i.status, err_a_i.status};
  wire [159:0] err_addr   = {err_d_i.addr, err_c_i.addr, err_b_i.addr, err_a_i.addr};

  wire [NumActive-1:0] new_one = ONE << new_slot;
  wire [NumActive-1:0] enters  = push ? new_one : {NumActive{1'b0}};
  reg [NumActive-1:0]  err_now, end_now;
  integer i;

  always @* begin
    err_now = drop ? new_one : {NumActive{1'b0}};
    end_now = (drop || skip) ? new_one : {NumActive{1'b0}};
    for (i = 0; i < 4; i = i + 1)
      if (err_valid[i]) err_now = err_now | (ONE << err_id[i*SlotBits +: SlotBits]);
    for (i = 0; i < 2; i = i + 1)
      if (end_valid_i[i]) end_now = end_now | (ONE << end_id_i[4*i +: SlotBits]);
  end
  assign err_o = {8'd0, err_q | err_now};

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      new_ptr_q <= {(SlotBits + 1){1'b0}};
      old_ptr_q <= {(SlotBits + 1){1'b0}};
      end_q     <= {NumActive{1'b0}};
      err_q     <= {NumActive{1'b0}};
      bad_q     <= {NumActive{1'b0}};
      clear_q   <= {NumActive{1'b0}};
      cleared_q <= 1'b0;
    end else begin
      end_q <= (end_q & ~enters) | end_now;
      err_q <= (err_q & ~enters) | err_now;
      if (push) begin
        new_ptr_q         <= new_ptr_q + 1'b1;
        bad_q[new_slot]   <= skip && check_bad;
        clear_q[new_slot] <= leave && prep_clear;
      end
      if (retire) begin
        old_ptr_q         <= old_ptr_q + 1'b1;
        clear_q[old_slot] <= 1'b0;
      end
      if (clr_done) cleared_q <= 1'b1;
      else if (retire) cleared_q <= 1'b0;
    end
  end

  integer j;
  always @(posedge clk_i) begin
    if (push) begin
      tag_q[new_slot]    <= skip ? queue_tag : prep_tag_q;
      rule_q[new_slot]   <= check_rule;
      status_q[new_slot] <= `PTO_ST_LOCAL;   // of unreadable parameters
      addr_q[new_slot]   <= {20'd0, load_addr_q};
      first_q[new_slot*BlockBits +: BlockBits] <= prep_first;
      last_q[new_slot*BlockBits +: BlockBits]  <= prep_last_q;
    end
    if (|err_valid) begin
      for (j = 3; j >= 0; j = j - 1) begin   // the last assignment counts: port a
        if (err_valid[j] && !err_q[err_id[j*SlotBits +: SlotBits]]) begin
          status_q[err_id[j*SlotBits +: SlotBits]] <= err_status[3*j +: 3];
          addr_q[err_id[j*SlotBits +: SlotBits]]   <= err_addr[40*j +: 40];
        end
      end
    end
  end

  // ---- unit flags ----
  // An op before this one may still have to clear a flag that this one waits for.
  function overlap;                          // one of the spans touches first to last
    input [NumActive-1:0]           live;    // spans that count
    input [NumActive*BlockBits-1:0] firsts;  // their first
    input [NumActive*BlockBits-1:0] lasts;   // and last blocks
    input [BlockBits-1:0]           first;
    input [BlockBits-1:0]           last;
    integer k;
    begin
      overlap = 1'b0;
      for (k = 0; k < NumActive; k = k + 1) begin
        if (live[k] && firsts[k*BlockBits +: BlockBits] <= last
            && first <= lasts[k*BlockBits +: BlockBits]) overlap = 1'b1;
      end
    end
  endfunction

  wire hold = flag_todo_q && overlap(clear_q, first_q, last_q, prep_first, prep_last_q);

  pto_fix_flags #(
    .WordBits (WordBits),
    .SlotBits (SlotBits)
  ) u_flags (
    .clk_i, .rst_ni,
    .job_valid_i      (flag_todo_q),
    .job_done_o       (flag_done),
    .job_hold_i       (hold),
    .job_keep_i       (prep_clear),
    .job_slot_i       (new_slot),
    .job_src_i        (prep_word),
    .job_rows_i       (prep_desc_q[`PTO_FIX_M_LSB +: WordBits+1]),
    .job_groups_i     (prep_last_n[11:4]),
    .job_src_stride_i (prep_desc_q[`PTO_FIX_SRC_STRIDE_LSB +: WordBits]),
    .job_repeats_i    (prep_last_r),
    .job_src_loop_i   (prep_desc_q[`PTO_FIX_LOOP3_SRC_LSB +: WordBits]),
    .clr_valid_i      (clr_valid),
    .clr_slot_i       (old_slot),
    .clr_done_o       (clr_done),
    .flag_req_o, .flag_gnt_i, .flag_clear_o, .flag_addr_o, .flag_mask_o, .flag_rvalid_i,
    .flag_rdata_i
  );

  // ---- parameters; a bank is free again with the last look-up of its op ----
  // Banks are taken and given back in turn, so counting them is enough.
  reg [1:0] used_q;                          // banks of ops handed over
  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) used_q <= 2'd0;
    else used_q <= used_q + {1'b0, take_bank} - {1'b0, prm_end_i};
  end

  pto_fix_params u_params (
    .clk_i, .rst_ni,
    .job_valid_i      (load_todo_q && !used_q[1]),
    .job_done_o       (load_done),
    .job_bad_o        (load_bad),
    .job_addr_o       (load_addr),
    .job_bank_i       (bank_q),
    .job_n_i          (prep_desc_q[`PTO_FIX_N_LSB +: 12]),
    .job_quant_i      (prep_desc_q[`PTO_FIX_QUANT]),
    .job_signed_i     (B8ScalarUnsigned == 0 && prep_desc_q[`PTO_FIX_DST_TYPE] == 4'd7),
    .job_scale_i      (prep_desc_q[`PTO_FIX_QUANT_SCALE_LSB+13 +: 19]),
    .job_quant_addr_i (prep_desc_q[`PTO_FIX_QUANT_ADDR_LSB +: 20]),
    .job_relu_i       (prep_desc_q[`PTO_FIX_RELU]),
    .job_alpha_i      (prep_desc_q[`PTO_FIX_RELU_ALPHA_LSB+13 +: 19]),
    .job_relu_addr_i  (prep_desc_q[`PTO_FIX_RELU_ADDR_LSB +: 20]),
    .par_req_o, .par_gnt_i, .par_space_o, .par_addr_o, .par_rvalid_i, .par_rdata_i, .par_err_i,
    .prm_rd_i, .prm_bank_i, .prm_group_i, .prm_quant_o, .prm_alpha_o
  );

  wire unused = &{1'b0, desc_i[`PTO_DESC_BITS-1:UsedBits], check_last_word[2:0], prep_last_n[3:0],
                  err_a_i, err_b_i, err_c_i, err_d_i, end_id_i};
endmodule

`default_nettype wire

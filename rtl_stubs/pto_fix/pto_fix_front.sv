// SPDX-License-Identifier: Apache-2.0
//
// Front of the write-back unit: pto_front, D rules, unit flags and parameters. A legal op that
// moves data is handed over once its flags are set and its parameters are in a bank of the cache;
// the next op is checked, and its flags and parameters are fetched, while the ops before it
// stream. A NOP or a bad op goes straight to the report. An op with unreadable parameters is
// reported with status LOCAL and never handed over.
// Order: flags are polled only when no op before still has to clear one of the same blocks; they
// are cleared after the op has finished and the report before was taken, then done is offered. An
// op that ends with an error has retired too: its flags are cleared as well.
// Throughput: one op per 5 to 9 clocks (pto_fix_check), one done per clock. Latency: descriptor to
// op_valid 6 clocks without flags and parameters; flags and parameters (in parallel) add the
// latencies of their modules; end to done 1 clock, more with flags to clear.
// Limits: two ops with scalar or vector parameters handed over whose words have not all been read
// (the banks), 16 ops in all; SrcDataWidth 512. Spec: docs/contract.md; fixpipe.md 1, 5, 6, 8, 10.
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
  parameter integer Errors         = 4,      // ports of errors
  parameter integer Ends           = 2,      // ports of ends
  parameter integer B8ScalarUnsigned = 0,    // 1: b8 with a scalar payload is unsigned
  parameter integer ModesA5        = 0       // 1: channel split only to GM and without unit flag
) (
  `include "pto_front_ports.vh"
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
  output wire [3:0]                op_id_o,       // its number
  output wire                      op_bank_o,     // its bank for look-ups
  input  wire                      prm_rd_i,      // look up the parameters of 16 channels
  input  wire                      prm_bank_i,    // bank of the op
  input  wire [7:0]                prm_group_i,   // channel div 16
  input  wire                      prm_end_i,     // the last look-up of the op
  output wire [16*36-1:0]          prm_quant_o,   // next clock, held; lane: offset field, scale
  output wire [16*19-1:0]          prm_alpha_o    // the same; lane: bits 31 to 13 of alpha
);
  localparam integer UsedBits  = `PTO_FIX_L2_LSB + `PTO_FIX_L2_CW;  // bits above are reserved
  localparam integer WordBits  = $clog2(L0cSize) - 6;    // of an index of 64-byte L0C words
  localparam integer BlockBits = WordBits - 3;           // of an index of 512-byte L0C blocks

  // Parameters out of range name a module that does not exist, in every tool an error.
  generate
    if (L0cSize > 262144 || L0cSize != (64 << WordBits) || L0cSize < 32768
        || FbSegmentSize > 4096) begin : gen_bad_size
      pto_error_l0c_or_fb_size u_error ();
    end
  endgenerate

  // ---- queue, numbers, reports. The next number is that of the prepared op ----
  `include "pto_front_wires.vh"
  wire ended, end_ready;                     // the oldest op has finished; its report is taken
  wire drop;                                 // the op is never handed over: this is its error
  reg [19:0] load_addr_q;                    // address of its bad word

  pto_front #(
    .TagWidth   (TagWidth),
    .QueueDepth (QueueDepth),
    .Errors     (Errors + 1),
    .Ends       (Ends),
    .EntryError (1)
  ) u_front (
    `include "pto_front_pins.vh"
    .done_valid_o  (ended),
    .done_ready_i  (end_ready),
    .err_i         ({drop, start_id, `PTO_ST_LOCAL, 20'd0, load_addr_q, err_i}),
    .err_o, .err_now_o, .fin_valid_i, .fin_id_i
  );

  // ---- check ----
  wire                check_valid, check_idle, check_bad;
  wire [7:0]          check_rule;
  wire [WordBits-1:0] check_last_word;

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
    .desc_valid_i    (head_valid),
    .desc_i          (head[UsedBits-1:0]),
    .job_valid_o     (check_valid),
    .job_ready_i     (head_ready),
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

  wire   ready       = prep_q && !flag_todo_q && !load_todo_q;
  wire   take_bank   = start_valid && op_ready_i && banked_q;
  wire   enter       = head_ready && !check_idle;
  wire   leave       = ready && job_ready;
  assign drop        = ready && load_bad_q;
  assign head_ready  = check_valid && !prep_q && job_ready;
  assign check_busy  = prep_q;
  assign job_valid   = prep_q ? ready : check_valid && check_idle;
  assign job_tag     = prep_q ? prep_tag_q : head_tag;
  assign verdict     = {prep_q ? load_bad_q : 1'b1, !prep_q && check_bad, check_rule};
  assign start_ready = op_ready_i;

  assign op_valid_o = start_valid;
  assign op_id_o    = start_id;
  assign op_bank_o  = bank_q;
  assign op_desc_o  = {{(`PTO_DESC_BITS - UsedBits){1'b0}}, prep_desc_q};

  // Codes of the vector modes are even below 16 and odd above, of the scalar modes the others;
  // 0, 1 and 16 have no payload (fixpipe.md 4).
  wire [5:0] new_quant = head[`PTO_FIX_QUANT];
  wire       new_scaled = new_quant != `PTO_QUANT_NO_CONVERT && new_quant != `PTO_QUANT_F32_F16
                       && new_quant != `PTO_QUANT_F32_BF16;
  wire       new_banked = new_scaled || head[`PTO_FIX_RELU] > 3'd1;
  wire       new_flagged = head[`PTO_FIX_UNIT_FLAG] != 3'd0;

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
      prep_desc_q <= head[UsedBits-1:0];
      prep_tag_q  <= head_tag;
      prep_last_q <= check_last_word[WordBits-1:3];
      banked_q    <= new_banked;
    end
    if (load_done) load_addr_q <= load_addr;
  end

  // ---- unit flags ----
  // They are cleared once the op is the oldest and has finished; then its report is offered. An op
  // before the prepared one may still have to clear a flag that this one waits for.
  localparam integer Active = `PTO_NUM_ACTIVE;
  reg [Active-1:0]           clear_q;        // by number: flags are to be cleared
  reg [Active*BlockBits-1:0] first_q;        // L0C blocks it touches: the first
  reg [Active*BlockBits-1:0] last_q;         // and the last
  reg [3:0]                  old_q;          // number of the oldest op
  reg                        cleared_q;      // its flags are cleared
  reg                        hold;
  wire clr_done;
  wire owes      = clear_q[old_q] && !cleared_q;
  wire clr_valid = ended && owes;
  wire retire    = done_valid_o && done_ready_i;
  integer k;
  assign done_valid_o = ended && !owes;
  assign end_ready    = done_ready_i && !owes;

  always @* begin
    hold = 1'b0;
    for (k = 0; k < Active; k = k + 1)
      if (clear_q[k] && first_q[k*BlockBits +: BlockBits] <= prep_last_q
          && prep_first <= last_q[k*BlockBits +: BlockBits]) hold = 1'b1;
  end

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      clear_q   <= {Active{1'b0}};
      old_q     <= 4'd0;
      cleared_q <= 1'b0;
    end else begin
      if (leave && prep_clear) clear_q[start_id] <= 1'b1;
      if (retire) begin
        clear_q[old_q] <= 1'b0;
        old_q          <= old_q + 4'd1;
      end
      cleared_q <= !retire && (cleared_q || clr_done);
    end
  end

  always @(posedge clk_i) begin
    if (leave) begin
      first_q[start_id*BlockBits +: BlockBits] <= prep_first;
      last_q[start_id*BlockBits +: BlockBits]  <= prep_last_q;
    end
  end

  pto_fix_flags #(
    .WordBits (WordBits),
    .SlotBits (4)
  ) u_flags (
    .clk_i, .rst_ni,
    .job_valid_i      (flag_todo_q),
    .job_done_o       (flag_done),
    .job_hold_i       (hold),
    .job_keep_i       (prep_clear),
    .job_slot_i       (start_id),
    .job_src_i        (prep_word),
    .job_rows_i       (prep_desc_q[`PTO_FIX_M_LSB +: WordBits+1]),
    .job_groups_i     (prep_last_n[11:4]),
    .job_src_stride_i (prep_desc_q[`PTO_FIX_SRC_STRIDE_LSB +: WordBits]),
    .job_repeats_i    (prep_last_r),
    .job_src_loop_i   (prep_desc_q[`PTO_FIX_LOOP3_SRC_LSB +: WordBits]),
    .clr_valid_i      (clr_valid),
    .clr_slot_i       (old_q),
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

  wire unused = &{1'b0, head[`PTO_DESC_BITS-1:UsedBits], check_last_word[2:0], prep_last_n[3:0]};
endmodule

`default_nettype wire

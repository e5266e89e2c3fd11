// SPDX-License-Identifier: Apache-2.0
//
// Parameters of the write-back ops: reads the quant records and alphas of an op from FB into one
// of two banks of a cache, from where the datapath looks them up, 16 channels per clock, while
// the next op's go into the other bank. Only the bits in use are kept: of a record its bits 53 to
// 37, the offset field, and the scale's bits 31 to 13, of an alpha bits 31 to 13. For b8 bit 9 of
// the offset field is the sign. A scalar is one entry, returned by every look-up of its bank. Words
// that hold no channel of the op are not read.
// Throughput: one 64-byte word per clock, 8 records or 16 alphas; one look-up per clock.
// Latency: first request 2 clocks after job_valid, done 1 clock after the last reply; an op
// without vectors 1 clock. Look-up: data in the next clock, held until the next look-up.
// After a failed read no new one starts; done comes after all replies.
// Limits: 512 channels with records, 1024 with alphas, which is all that a segment of FB holds, and
// vectors that end in their segment (FIX-L22).
// Spec: fixpipe.md 5, 6; bias_fb.md 3; docs/contract.md, par port.
//
//   clk         _/~\_/~\_/~\_/~\_/~\_/~\_
//   job_valid   _/~~~~~~~~~~~~~~~~~~~\___     stays, with its fields, until done
//   par_req     _________/~~~\___________     stable until granted; here one word
//   par_rvalid  _____________/~~~\_______
//   job_done    _________________/~~~\___
`default_nettype none
`include "pto_desc.vh"

module pto_fix_params (
  input  wire             clk_i,            // clock
  input  wire             rst_ni,           // asynchronous reset, active low
  input  wire             job_valid_i,      // parameters are wanted
  output wire             job_done_o,       // one clock: they are in the cache
  output wire             job_bad_o,        // with done: no, a read failed
  output wire [19:0]      job_addr_o,       // with bad: address of its word
  input  wire             job_bank_i,       // bank to fill
  input  wire [11:0]      job_n_i,          // channels, at least 1
  input  wire [5:0]       job_quant_i,      // pre_quant code
  input  wire             job_signed_i,     // scalar: sign bit for the narrowing to b8
  input  wire [18:0]      job_scale_i,      // scalar: bits 31 to 13 of the scale
  input  wire [19:0]      job_quant_addr_i, // vector: address of record 0
  input  wire [2:0]       job_relu_i,       // pre_relu code
  input  wire [18:0]      job_alpha_i,      // scalar: bits 31 to 13 of alpha
  input  wire [19:0]      job_relu_addr_i,  // vector: address of alpha 0
  output wire             par_req_o,        // read, stable until granted
  input  wire             par_gnt_i,        // request taken
  output wire [2:0]       par_space_o,      // memory, FB
  output wire [19:0]      par_addr_o,       // segment << 16 + offset, word aligned
  input  wire             par_rvalid_i,     // reply, in order
  input  wire [511:0]     par_rdata_i,      // word
  input  wire             par_err_i,        // the read failed, with the reply
  input  wire             prm_rd_i,         // look up
  input  wire             prm_bank_i,       // in this bank
  input  wire [7:0]       prm_group_i,      // the channels 16*group to 16*group + 15
  output wire [16*36-1:0] prm_quant_o,      // per lane: offset field, scale 31 to 13
  output wire [16*19-1:0] prm_alpha_o       // per lane: alpha 31 to 13
);
  localparam integer IndexBits = 14;     // of 64-byte words
  localparam integer HalfWidth = 8 * 36;                 // 8 records of a word
  localparam integer RowWidth  = 16 * 19;                // 16 alphas of a word

  function [HalfWidth-1:0] records;          // 8 records of 64 bits
    input [511:0] word;
    integer k;
    for (k = 0; k < 8; k = k + 1)
      records[36*k +: 36] = {word[64*k+37 +: 17], word[64*k+13 +: 19]};
  endfunction

  function [RowWidth-1:0] alphas;            // 16 words of 32 bits
    input [511:0] word;
    integer k;
    for (k = 0; k < 16; k = k + 1) alphas[19*k +: 19] = word[32*k+13 +: 19];
  endfunction

  // ---- the job ----
  localparam [1:0] IDLE = 2'd0, FETCH = 2'd1, DONE = 2'd2;
  reg [1:0]           state_q;
  reg [6:0]           quant_left_q;          // words of records to request
  reg [6:0]           alpha_left_q;          // words of alphas to request
  reg [IndexBits-1:0] quant_word_q;          // next word of records
  reg [IndexBits-1:0] alpha_word_q;          // next word of alphas
  reg                 req_q;
  reg [IndexBits-1:0] req_word_q;
  reg [7:0]           flight_q;              // words requested, without their reply
  reg [6:0]           quant_due_q;           // words of records without their reply
  reg [5:0]           quant_row_q;           // place of the next word of records
  reg [5:0]           alpha_row_q;           // place of the next word of alphas
  reg [IndexBits-1:0] due_quant_q;           // index of that word, for a report
  reg [IndexBits-1:0] due_alpha_q;
  reg                 bad_q;                 // a read has failed
  reg [IndexBits-1:0] bad_word_q;
  reg [1:0]           quant_vec_q;           // per bank: records by channel, else one for all
  reg [1:0]           alpha_vec_q;           // per bank: alphas by channel, else one for all

  // Codes of the vector modes are even below 16 and odd above (fixpipe.md 4); 0 and 16 are none.
  wire       vec_quant = job_quant_i[0] == (job_quant_i >= 6'd16) && job_quant_i != 6'd0;
  wire       vec_alpha = job_relu_i == 3'd3;
  wire [6:0] quant_words = vec_quant ? job_n_i[9:3] + {6'd0, |job_n_i[2:0]} : 7'd0;
  wire [6:0] alpha_words = vec_alpha ? job_n_i[10:4] + {6'd0, |job_n_i[3:0]} : 7'd0;

  wire start = state_q == IDLE && job_valid_i;
  wire fetch = state_q == FETCH;
  wire more  = quant_left_q != 7'd0 || alpha_left_q != 7'd0;
  wire stop  = bad_q || (par_rvalid_i && par_err_i);
  wire ask   = fetch && more && !stop && (!req_q || par_gnt_i);
  wire reply = fetch && par_rvalid_i;
  wire ended = (!more || stop) && flight_q == {7'd0, par_rvalid_i};
  wire due_alpha = quant_due_q == 7'd0;      // the reply that comes next is one of alphas

  assign job_done_o  = state_q == DONE;
  assign job_bad_o   = bad_q;
  assign job_addr_o  = {bad_word_q, 6'd0};
  assign par_req_o   = req_q;
  assign par_space_o = `PTO_SPACE_FB;
  assign par_addr_o  = {req_word_q, 6'd0};

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q  <= IDLE;
      req_q    <= 1'b0;
      flight_q <= 8'd0;
      bad_q    <= 1'b0;
    end else begin
      case (state_q)
        IDLE:    if (job_valid_i) state_q <= (vec_quant || vec_alpha) ? FETCH : DONE;
        FETCH:   if (ended) state_q <= DONE;
        default: state_q <= IDLE;
      endcase
      if (ask) req_q <= 1'b1;
      else if (par_gnt_i) req_q <= 1'b0;
      if (fetch) flight_q <= flight_q + {7'd0, ask} - {7'd0, par_rvalid_i};
      if (start) bad_q <= 1'b0;
      else if (reply && par_err_i) bad_q <= 1'b1;
    end
  end

  always @(posedge clk_i) begin
    if (start) begin
      quant_left_q <= quant_words;
      alpha_left_q <= alpha_words;
      quant_word_q <= job_quant_addr_i[19:6];
      alpha_word_q <= job_relu_addr_i[19:6];
      quant_due_q  <= quant_words;
      quant_row_q  <= 6'd0;
      alpha_row_q  <= 6'd0;
      due_quant_q  <= job_quant_addr_i[19:6];
      due_alpha_q  <= job_relu_addr_i[19:6];
      quant_vec_q[job_bank_i] <= vec_quant;
      alpha_vec_q[job_bank_i] <= vec_alpha;
    end
    if (ask) begin
      req_word_q <= (quant_left_q != 7'd0) ? quant_word_q : alpha_word_q;
      if (quant_left_q != 7'd0) begin
        quant_left_q <= quant_left_q - 7'd1;
        quant_word_q <= quant_word_q + 1'b1;
      end else begin
        alpha_left_q <= alpha_left_q - 7'd1;
        alpha_word_q <= alpha_word_q + 1'b1;
      end
    end
    if (reply) begin
      if (due_alpha) begin
        alpha_row_q <= alpha_row_q + 6'd1;
        due_alpha_q <= due_alpha_q + 1'b1;
      end else begin
        quant_due_q <= quant_due_q - 7'd1;
        quant_row_q <= quant_row_q + 6'd1;
        due_quant_q <= due_quant_q + 1'b1;
      end
      if (par_err_i && !bad_q) bad_word_q <= due_alpha ? due_alpha_q : due_quant_q;
    end
  end

  // ---- cache: a row is 16 channels, records in two halves because a word holds 8 ----
  reg [HalfWidth-1:0] low_q   [0:63];        // channels 0 to 7 of a row; address bank, row
  reg [HalfWidth-1:0] high_q  [0:63];        // channels 8 to 15
  reg [RowWidth-1:0]  alpha_q [0:127];
  reg [HalfWidth-1:0] rd_low_q, rd_high_q;
  reg [RowWidth-1:0]  rd_alpha_q;

  wire [35:0] scalar = {7'd0, job_signed_i, 9'd0, job_scale_i};     // offset 0
  wire        put_quant = reply && !due_alpha;
  wire [4:0]  quant_row = quant_vec_q[prm_bank_i] ? prm_group_i[4:0] : 5'd0;
  wire [5:0]  alpha_row = alpha_vec_q[prm_bank_i] ? prm_group_i[5:0] : 6'd0;

  always @(posedge clk_i) begin
    if (start && !vec_quant) low_q[{job_bank_i, 5'd0}] <= {8{scalar}};
    else if (put_quant && !quant_row_q[0])
      low_q[{job_bank_i, quant_row_q[5:1]}] <= records(par_rdata_i);
    if (start && !vec_quant) high_q[{job_bank_i, 5'd0}] <= {8{scalar}};
    else if (put_quant && quant_row_q[0])
      high_q[{job_bank_i, quant_row_q[5:1]}] <= records(par_rdata_i);
    if (start && !vec_alpha) alpha_q[{job_bank_i, 6'd0}] <= {16{job_alpha_i}};
    else if (reply && due_alpha) alpha_q[{job_bank_i, alpha_row_q}] <= alphas(par_rdata_i);
    if (prm_rd_i) begin
      rd_low_q   <= low_q[{prm_bank_i, quant_row}];
      rd_high_q  <= high_q[{prm_bank_i, quant_row}];
      rd_alpha_q <= alpha_q[{prm_bank_i, alpha_row}];
    end
  end

  assign prm_quant_o = {rd_high_q, rd_low_q};
  assign prm_alpha_o = rd_alpha_q;

  wire unused = &{1'b0, job_n_i[11], prm_group_i[7:6], job_quant_addr_i[5:0], job_relu_addr_i[5:0]};
endmodule

`default_nettype wire

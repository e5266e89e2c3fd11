// SPDX-License-Identifier: Apache-2.0
//
// Checks one write-back descriptor against its D rules, lowest number first (FIX-L07, L14 to L23,
// L26), and the zero-count test, which comes after them. Extents are exact (A-18): fields are wider
// than any legal value, and sums never wrap. mte_l0c_gm has no L17 and L21, mte_l0c_l1 no L21 and
// L26, mte_l0c_ub no L26.
// Throughput and latency: 4 clocks and one for each digit: the sums of products of the source
// and of the destination grow side by side, each by one 8-bit digit of a count that is not zero
// per clock. That is 5 clocks for ordinary tiles, 9 at most. The next check begins the clock after
// the job was taken. Limits: memories are multiples of 64 bytes. Spec: fixpipe.md 1, 2, 10.
//
//   clk         _/~\_/~\_/~\_/~\_/~\_/~\_/~\_
//   desc_valid  _/~~~~~~~~~~~~~~~~~~~~~~~\___     stable until the clock of job_ready
//   job_valid   _____________________/~~~\___     one digit
//   job_ready   _____________________/~~~\___
`default_nettype none
`include "pto_desc.vh"

module pto_fix_check #(
  parameter integer UbSize        = `PTO_SIZE_UB,   // bytes of one UB sub-block
  parameter integer L1Size        = `PTO_SIZE_L1,   // bytes of L1
  parameter integer L0cSize       = `PTO_SIZE_L0C,  // bytes of L0C
  parameter integer FbSegmentSize = `PTO_FB_SEGMENT_BYTES,  // bytes of a segment of FB
  parameter integer UsedBits      = 410,     // bits of a descriptor that hold fields
  parameter integer WordBits      = 12,      // bits of an index of 64-byte L0C words
  parameter integer ModesA5       = 0        // 1: channel split only to GM and without unit flag
) (
  input  wire                clk_i,          // clock
  input  wire                rst_ni,         // asynchronous reset, active low
  input  wire                desc_valid_i,   // a descriptor is there
  input  wire [UsedBits-1:0] desc_i,         // the descriptor, stable until its job is taken
  output wire                job_valid_o,    // it is judged
  input  wire                job_ready_i,    // the job is taken, and the descriptor with it
  output wire                job_idle_o,     // nothing to move: bad op or NOP
  output wire                job_bad_o,      // a rule is violated, or opcode unknown
  output wire [7:0]          job_rule_o,     // number of that rule, 0: unknown opcode
  output wire [WordBits-1:0] job_last_word_o // legal op: index of the last L0C word it reads
);
  localparam integer SrcWidth = 34;          // words: 2^18 + 2^32 + 2^24 + 2^32 < 2^34
  localparam integer DstWidth = 50;          // elements: 2^48 + 2^48 + 2^20 < 2^50
  localparam integer EndWidth = DstWidth + 4;  // in units of 4 bits, with the address
  localparam [SrcWidth-1:0] L0C_WORDS = {{(SrcWidth - 26){1'b0}}, L0cSize[31:6]};
  localparam [EndWidth-1:0] GM_END = {{(EndWidth - 1){1'b0}}, 1'b1} << (`PTO_GM_ADDR_BITS + 1);
  localparam [EndWidth-1:0] L1_END = {{(EndWidth - 33){1'b0}}, L1Size[31:0], 1'b0};
  localparam [EndWidth-1:0] UB_END = {{(EndWidth - 33){1'b0}}, UbSize[31:0], 1'b0};

  // Codes of fields (fixpipe.md 4, 6, 10).
  localparam [3:0] F16 = 4'd2, S16 = 4'd4, S8 = 4'd7, U8 = 4'd8, S4 = 4'd9;
  localparam [1:0] NZ2DN = 2'd2, NZ2NZ = 2'd3;
  localparam [1:0] WHOLE = 2'd0, SPLIT_M = 2'd1, SPLIT_N = 2'd2;

  // ---- fields ----
  wire [7:0]  opcode     = desc_i[`PTO_DESC_OPCODE];
  wire [3:0]  dst_type   = desc_i[`PTO_FIX_DST_TYPE];
  wire [5:0]  quant      = desc_i[`PTO_FIX_QUANT];
  wire [23:0] quant_addr = desc_i[`PTO_FIX_QUANT_ADDR];
  wire [2:0]  relu       = desc_i[`PTO_FIX_RELU];
  wire [23:0] relu_addr  = desc_i[`PTO_FIX_RELU_ADDR];
  wire        clip_en    = desc_i[`PTO_FIX_CLIP_EN];
  wire [15:0] clip       = desc_i[`PTO_FIX_CLIP];
  wire [2:0]  unit_flag  = desc_i[`PTO_FIX_UNIT_FLAG];
  wire [2:0]  atomic     = desc_i[`PTO_FIX_ATOMIC_TYPE];
  wire [1:0]  atomic_op  = desc_i[`PTO_FIX_ATOMIC_OP];
  wire [1:0]  layout     = desc_i[`PTO_FIX_LAYOUT];
  wire [1:0]  split      = desc_i[`PTO_FIX_SPLIT];
  wire [1:0]  ub_mode    = desc_i[`PTO_FIX_UB_MODE];
  wire [1:0]  ub_sub     = desc_i[`PTO_FIX_UB_SUB];
  wire        loop3      = desc_i[`PTO_FIX_LOOP3_EN];
  wire [16:0] repeats    = desc_i[`PTO_FIX_LOOP3_COUNT];
  wire [16:0] src_loop   = desc_i[`PTO_FIX_LOOP3_SRC];
  wire [32:0] dst_loop   = desc_i[`PTO_FIX_LOOP3_DST];
  wire [16:0] pitch      = desc_i[`PTO_FIX_K];
  wire [16:0] m          = desc_i[`PTO_FIX_M];
  wire [12:0] n          = desc_i[`PTO_FIX_N];
  wire [16:0] src_stride = desc_i[`PTO_FIX_SRC_STRIDE];
  wire [32:0] dst_stride = desc_i[`PTO_FIX_DST_STRIDE];
  wire [23:0] src        = desc_i[`PTO_FIX_SRC_ADDR];
  wire [43:0] dst        = desc_i[`PTO_FIX_DST_ADDR];
  wire [2:0]  sid        = desc_i[`PTO_FIX_SID];
  wire [4:0]  l2         = desc_i[`PTO_FIX_L2];

  wire is_gm = opcode == `PTO_OP_MTE_L0C_GM;
  wire is_l1 = opcode == `PTO_OP_MTE_L0C_L1;
  wire is_ub = opcode == `PTO_OP_MTE_L0C_UB;
  wire dn    = layout == NZ2DN;
  wire nz    = layout == NZ2NZ;

  // Elements: log2 of their size in units of 4 bits.
  wire       four = dst_type == S4;
  wire [1:0] elem = four ? 2'd0 : dst_type <= 4'd1 ? 2'd3 : dst_type <= S16 ? 2'd2 : 2'd1;

  // Codes of the vector modes are even below 16 and odd above (fixpipe.md 4); 0 and 16 are none.
  wire vec_quant = quant[0] == (quant >= 6'd16) && quant != 6'd0;
  wire vec_relu  = relu == 3'd3;

  // FIX-L22: an FB address is a segment and an offset in it, and no vector ends in another segment.
  wire [7:0]  quant_seg = quant_addr[`PTO_FB_SEGMENT_SHIFT +: 8];
  wire [7:0]  relu_seg  = relu_addr[`PTO_FB_SEGMENT_SHIFT +: 8];
  wire [17:0] quant_end = {2'd0, quant_addr[15:0]} + {2'd0, n, 3'd0};
  wire [17:0] relu_end  = {2'd0, relu_addr[15:0]} + {3'd0, n, 2'd0};

  // FIX-L07: the legal clip values of each destination type.
  function clip_bad;
    input [3:0]  kind;
    input [15:0] value;
    case (kind)
      F16:     clip_bad = value == 16'd0 || value >= 16'h7C00;
      S16:     clip_bad = value == 16'd0 || value > 16'h7FFF;
      S8:      clip_bad = value == 16'd0 || value > 16'd127;
      U8:      clip_bad = value == 16'd0 || value > 16'd255;
      S4:      clip_bad = value == 16'd0 || value > 16'd7;
      default: clip_bad = 1'b0;
    endcase
  endfunction

  // 1 when this number of elements is whole 32-byte blocks.
  function ragged;
    input [5:0] count;                       // low bits of the number
    input [1:0] size;                        // log2 of the element in units of 4 bits
    case (size)
      2'd0:    ragged = |count[5:0];
      2'd1:    ragged = |count[4:0];
      2'd2:    ragged = |count[3:0];
      default: ragged = |count[2:0];
    endcase
  endfunction

  function [2:0] lowest;                     // index of the lowest set bit, 4 if there is no other
    input [3:0] set;
    lowest = set[0] ? 3'd0 : set[1] ? 3'd1 : set[2] ? 3'd2 : set[3] ? 3'd3 : 3'd4;
  endfunction

  // ---- counts ----
  wire        none     = m == 17'd0 || n == 13'd0 || (loop3 && repeats == 17'd0);
  wire [15:0] last_r   = loop3 ? repeats[15:0] - 16'd1 : 16'd0;
  wire [11:0] last_n   = n[11:0] - 12'd1;
  wire [15:0] last_m   = m[15:0] - 16'd1;
  wire [15:0] half_m   = {1'b0, m[15:1]} - 16'd1;          // of the rows of a half
  wire        near     = !dn || pitch[15:0] == 16'd1;      // rows are adjacent words
  wire        cut_m    = is_ub && ub_mode == SPLIT_M;
  wire        cut_n    = is_ub && ub_mode == SPLIT_N;
  wire [11:0] columns  = cut_n ? {1'b0, n[11:1]} : n[11:0];

  // Destination rows less 1, and elements of the last one.
  wire [15:0] dst_last = cut_m ? half_m : dn ? {4'd0, last_n}
                       : nz ? (split[0] ? {7'd0, last_n[11:3]} : {8'd0, last_n[11:4]}) : last_m;
  wire [19:0] dst_tail = dn ? {4'd0, m[15:0]}
                       : nz ? (split[0] ? {1'b0, m[15:0], 3'd0} : {m[15:0], 4'd0})
                       : {8'd0, columns};

  // ---- sums, digit by digit ----
  localparam [1:0] IDLE = 2'd0, SUM = 2'd1, JUDGE = 2'd2, JOB = 2'd3;
  reg [1:0]          state_q;
  reg [4:0]          src_todo_q;             // digits of repeats, groups, rows not yet summed
  reg [3:0]          dst_todo_q;             // digits of repeats, rows
  reg [39:0]         src_digits_q;
  reg [31:0]         dst_digits_q;
  reg [SrcWidth-1:0] src_prod_q, src_sum_q;  // product of a digit; index of the last word
  reg [DstWidth-1:0] dst_prod_q, dst_sum_q;  // product of a digit; elements up to the end
  reg [1:0]          elem_q;

  wire start = state_q == IDLE && desc_valid_i;
  wire [2:0]  src_sel  = lowest(src_todo_q[3:0]);
  wire [1:0]  dst_sel  = dst_todo_q[0] ? 2'd0 : dst_todo_q[1] ? 2'd1 : dst_todo_q[2] ? 2'd2 : 2'd3;
  wire        last_sum = src_todo_q == 5'd0 && dst_todo_q == 4'd0;

  wire [7:0]  src_digit = src_digits_q[{src_sel, 3'd0} +: 8];
  wire [7:0]  dst_digit = dst_digits_q[{dst_sel, 3'd0} +: 8];
  wire [15:0] src_mul   = |src_todo_q[1:0] ? src_loop[15:0]
                        : src_todo_q[2] ? src_stride[15:0] : pitch[15:0];
  wire [31:0] dst_mul   = dst_sel[1] ? dst_stride[31:0] : dst_loop[31:0];
  wire        src_high  = src_sel == 3'd1 || src_sel == 3'd4;
  wire [23:0] src_prod  = {16'd0, src_digit} * {8'd0, src_mul};
  wire [39:0] dst_prod  = {32'd0, dst_digit} * {8'd0, dst_mul};

  // Broken rules and NOPs.
  reg unknown_q, nop_q;
  reg l07_q, l14_q, l15_q, l16_q, l17_q, l18_q, l19_q, l20_q, l21_q, l22_q, l23_q, l26_q;
  wire bad_q = unknown_q || l07_q || l14_q || l15_q || l16_q || l17_q || l18_q || l19_q || l20_q
            || l21_q || l22_q;               // these end the sums; L26 does not, it is above L23

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= IDLE;
    end else begin
      case (state_q)
        IDLE:    if (desc_valid_i) state_q <= SUM;
        SUM:     if (last_sum || nop_q || bad_q) state_q <= JUDGE;
        JUDGE:   state_q <= JOB;
        default: if (job_ready_i) state_q <= IDLE;
      endcase
    end
  end

  always @(posedge clk_i) begin
    if (start) begin
      src_digits_q <= {near ? 16'd0 : last_m, last_n[11:4], last_r};
      dst_digits_q <= {dst_last, last_r};
      src_todo_q   <= {!near && |last_m[15:8], !near && |last_m[7:0], |last_n[11:4],
                       |last_r[15:8], |last_r[7:0]};
      dst_todo_q   <= {|dst_last[15:8], |dst_last[7:0], |last_r[15:8], |last_r[7:0]};
      src_sum_q    <= {{(SrcWidth - 18){1'b0}}, src[23:6]}
                    + {{(SrcWidth - 16){1'b0}}, near ? last_m : 16'd0};
      dst_sum_q    <= {{(DstWidth - 20){1'b0}}, dst_tail};
      src_prod_q   <= {SrcWidth{1'b0}};
      dst_prod_q   <= {DstWidth{1'b0}};
      elem_q       <= elem;
    end
    if (state_q == SUM) begin
      src_todo_q <= src_todo_q & (src_todo_q - 5'd1);
      dst_todo_q <= dst_todo_q & (dst_todo_q - 4'd1);
      src_prod_q <= (src_todo_q == 5'd0) ? {SrcWidth{1'b0}}
                  : {{(SrcWidth - 24){1'b0}}, src_prod} << {src_high, 3'd0};
      dst_prod_q <= (dst_todo_q == 4'd0) ? {DstWidth{1'b0}}
                  : {{(DstWidth - 40){1'b0}}, dst_prod} << {dst_sel[0], 3'd0};
      src_sum_q  <= src_sum_q + src_prod_q;
      dst_sum_q  <= dst_sum_q + dst_prod_q;
    end
  end

  // ---- rules; each has a register, so that they are evaluated only for a descriptor ----
  wire        wrong_mode = unit_flag[2] || unit_flag == 3'd1;
  wire [32:0] stride_or_loop = dst_stride | (loop3 ? dst_loop : 33'd0);  // low bits of both

  always @(posedge clk_i) begin
    if (start) begin
      unknown_q <= !is_gm && !is_l1 && !is_ub;
      nop_q     <= none;
      l07_q     <= clip_en && clip_bad(dst_type, clip);
      l14_q     <= (nz ? m[16] : m > 17'd8192) || n[12] || src_stride[16]
                || dst_stride[32] || dst_stride == 33'd0
                || (dn && (pitch[16] || pitch == 17'd0))
                || (loop3 && (repeats[16] || src_loop[16] || dst_loop[32]))
                || (is_gm && (sid[2] || l2[4])) || wrong_mode || (nz && split[1])
                || (is_ub && ub_mode == WHOLE && ub_sub[1]);
      l15_q     <= n > 13'd16 && |src_stride[3:0];
      l16_q     <= |src[5:0]
                || (is_gm ? (|dst[1:0] && elem == 2'd3) || (dst[0] && elem == 2'd2) : |dst[4:0]);
      l17_q     <= !is_gm && ragged(stride_or_loop[5:0], elem);
      l18_q     <= four && (stride_or_loop[0] || (dn ? m[0] : n[0]));
      l19_q     <= nz && (|n[2:0] || (n[3] && !split[0]));
      l20_q     <= (unit_flag[1] && dn && pitch != 17'd1)
                || (ModesA5 == 1 && nz && split[0] && (!is_gm || unit_flag[1]));
      l21_q     <= (cut_m && m[0]) || (cut_n && |n[4:0]);
      l22_q     <= (vec_quant && (|quant_addr[6:0] || quant_seg != `PTO_FB_PRE_QUANT
                    || (!none && {14'd0, quant_end} > FbSegmentSize[31:0])))
                || (vec_relu && (|relu_addr[5:0]
                    || (relu_seg != `PTO_FB_PRE_RELU && relu_seg != `PTO_FB_PRE_QUANT)
                    || (!none && {14'd0, relu_end} > FbSegmentSize[31:0])));
      l26_q     <= is_gm && (atomic == 3'd7 || (atomic_op == 2'd3 && atomic != 3'd0));
    end
    // A NOP accesses no byte.
    if (state_q == JUDGE) begin
      l23_q <= !nop_q && (src_sum_q >= L0C_WORDS
                          || {{(EndWidth - 45){1'b0}}, dst, 1'b0}
                             + ({{(EndWidth - DstWidth){1'b0}}, dst_sum_q} << elem_q)
                             > (is_gm ? GM_END : is_l1 ? L1_END : UB_END));
    end
  end

  assign job_valid_o     = state_q == JOB;
  assign job_bad_o       = bad_q || l23_q || l26_q;
  assign job_idle_o      = job_bad_o || nop_q;
  assign job_rule_o      = unknown_q ? 8'd0 : l07_q ? 8'd7 : l14_q ? 8'd14 : l15_q ? 8'd15
                         : l16_q ? 8'd16 : l17_q ? 8'd17 : l18_q ? 8'd18 : l19_q ? 8'd19
                         : l20_q ? 8'd20 : l21_q ? 8'd21 : l22_q ? 8'd22 : l23_q ? 8'd23
                         : l26_q ? 8'd26 : 8'd0;
  assign job_last_word_o = src_sum_q[WordBits-1:0];

  // Fields that no rule checks.
  wire unused = &{1'b0, desc_i[`PTO_FIX_ACC], desc_i[`PTO_FIX_QUANT_SCALE],
                  desc_i[`PTO_FIX_RELU_ALPHA], desc_i[`PTO_FIX_SAT], ub_sub[0], sid[1:0], l2[3:0],
                  stride_or_loop[32:6]};
endmodule

`default_nettype wire

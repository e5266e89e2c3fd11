// SPDX-License-Identifier: Apache-2.0
//
// The verdict of pto_dma_check on every descriptor of a burst op is that of the rules of dma.md 5 and
// bias_fb.md 5, written here a second time. The extents are cut out: what goes into pto_extent is
// that of the specification, and the verdict is right for any sum.
// Sources: common/dma/pto_dma_check.sv
// Variant: Ops=256'h360
// Bugs: by_l1_count_16_bit:as_specified by_l1_destination_32_bytes:as_specified
// Bugs: fb_nop_segment:as_specified fb_over_segment_end:as_specified bias_extent_as_32_bit:terms
// Bugs: burst_extent_8_bit:terms burst_last_gap_counts:terms
`include "pto_dma_cut.vh"

  // ---- the descriptor ----
  wire [7:0]  opcode  = desc[`PTO_DESC_OPCODE];
  wire [1:0]  widen   = desc[`PTO_BURST_WIDEN];
  wire [16:0] len     = desc[`PTO_BURST_LEN];
  wire [16:0] n       = desc[`PTO_BURST_N_BURST];
  wire [23:0] src     = desc[`PTO_BURST_SRC_ADDR];
  wire [23:0] dst     = desc[`PTO_BURST_DST_ADDR];
  wire [16:0] src_gap = desc[`PTO_BURST_SRC_GAP];
  wire [16:0] dst_gap = desc[`PTO_BURST_DST_GAP];
  wire is_ub_ub = opcode == `PTO_OP_MTE_UB_UB;
  wire is_ub_l1 = opcode == `PTO_OP_MTE_UB_L1;
  wire is_bt    = opcode == `PTO_OP_MTE_L1_BT;
  wire is_fb    = opcode == `PTO_OP_MTE_L1_FB;
  wire served   = Ops[opcode] && (is_ub_ub || is_ub_l1 || is_bt || is_fb);
  wire nop      = len == 17'd0 || n == 17'd0;

  // ---- units, and ends as pto_extent gives them; a destination in FB ends in its segment ----
  wire [2:0]  src_log2 = is_bt ? (widen == 2'd0 ? 3'd2 : 3'd1) : is_fb ? 3'd6 : 3'd5;
  wire [2:0]  dst_log2 = is_bt ? 3'd2 : is_fb ? 3'd6 : 3'd5;
  wire [63:0] src_end  = \u_out.u_ext.sum ;
  wire [45:0] dst_end  = \u_out.u_loc.sum ;
  wire [63:0] src_size = is_ub_ub || is_ub_l1 ? 64'd262144 : 64'd524288;
  wire [45:0] dst_size = is_ub_ub ? 46'd262144 : is_ub_l1 ? 46'd524288
                         : is_bt ? 46'd4096 : {22'd0, dst[23:16], 16'd4096};

  // ---- the rules ----
  wire wide  = len > 17'd65535 || n > (is_bt || is_fb ? 17'd4095 : 17'd65535)
               || src_gap > 17'd65535 || dst_gap > 17'd65535;
  wire askew = src % 24'd32 != 24'd0 || dst % (is_bt || is_fb ? 24'd64 : 24'd32) != 24'd0;
  wire out   = (!nop && (src_end > src_size || dst_end > dst_size)) || (is_fb && dst[23:16] > 8'd1);
  wire bad   = !served || wide || askew || out;
  wire [7:0] rule = !served ? 8'd0
                    : is_bt || is_fb ? (wide ? 8'd2 : askew ? 8'd3 : 8'd4)
                    : (wide ? 8'd5 : askew ? 8'd6 : 8'd12);

  wire [15:0] less_1    = n[15:0] - 16'd1;
  wire [17:0] src_pitch = {1'b0, len} + {1'b0, src_gap};
  wire [17:0] dst_pitch = {1'b0, len} + {1'b0, dst_gap};

  // ---- the job: without gaps one row of all bytes; a field that no byte depends on is free ----
  wire        one_row = src_gap == 17'd0 && dst_gap == 17'd0;
  wire [45:0] all     = dst_end - {22'd0, dst};
  wire [20:0] bytes   = one_row ? {1'b0, all[19:0]} : {4'd0, len} << dst_log2;
  wire        rows    = !one_row && less_1 != 16'd0;
  wire [2:0]  ub      = desc[`PTO_BURST_UB_SUB] ? `PTO_SPACE_UB1 : `PTO_SPACE_UB0;
  wire pto_words_t   words;
  wire pto_row_t     row;
  wire pto_dma_job_t its;
  assign words.cut      = 1'b0;
  assign words.last     = 1'b0;
  assign words.id       = 4'd0;
  assign words.space    = is_ub_ub ? ub : is_ub_l1 ? `PTO_SPACE_L1 : is_bt ? `PTO_SPACE_BT
                          : `PTO_SPACE_FB;
  assign words.addr     = dst[19:0];
  assign words.len      = bytes[19:0];
  assign words.left     = 6'd0;
  assign words.foot     = bytes;
  assign words.pattern  = job_out.row.loc.pattern;
  assign words.fill     = 1'b0;
  assign words.elem     = job_out.row.loc.elem;
  assign row.atomic.kind  = 3'd0;
  assign row.atomic.op    = job_out.row.atomic.op;
  assign row.atomic.nosat = job_out.row.atomic.nosat;
  assign row.widen      = is_bt ? widen : 2'd0;
  assign row.ext_space  = is_bt || is_fb ? `PTO_SPACE_L1 : ub;
  assign row.ext_addr   = {16'd0, src};
  assign row.loc        = words;
  assign its.row        = row;
  assign its.more       = 5'd0;
  assign its.last       = {68'd0, one_row ? 16'd0 : less_1};
  assign its.ext_stride = {120'd0, rows ? {22'd0, src_pitch} << src_log2 : job_out.ext_stride[39:0]};
  assign its.loc_stride = {60'd0, rows ? {2'd0, dst_pitch} << dst_log2 : job_out.loc_stride[19:0]};

  wire taken = rst_n && desc_valid && ready_in;
  always @* begin
    assume(!is_bt || widen != 2'd3);
    assume(\u_in.u_ext.last == \u_in.u_loc.last );          // the same digits
    if (rst_n) begin
      in_step: assert(\u_in.u_ext.in_valid_i == \u_in.u_loc.in_valid_i
                      && \u_in.u_ext.in_skip_i == \u_in.u_loc.in_skip_i
                      && \u_in.u_ext.in_digits_i == \u_in.u_loc.in_digits_i
                      && taken == (\u_in.u_ext.in_valid_i && \u_in.u_ext.last )
                      && taken == (\u_in.u_jobs.wr_valid_i && \u_in.u_jobs.wr_ready_o )
                      && valid_out == \u_out.u_ext.out_valid_o
                      && \u_out.u_jobs.rd_ready_i == (valid_out && job_ready)
                      && (!valid_out || (\u_out.u_ext.out_ready_i == job_ready
                                         && \u_out.u_loc.out_ready_i == job_ready)));
      terms: assert(!taken || !served || wide || nop
                    || (!\u_in.u_ext.in_skip_i && \u_in.u_ext.in_digits_i == {80'd0, less_1}
                        && \u_in.u_ext.in_base_i == {20'd0, src}
                        && \u_in.u_ext.in_tail_i == {5'd0, len} << src_log2
                        && \u_in.u_loc.in_base_i == dst
                        && \u_in.u_loc.in_tail_i == {6'd0, len} << dst_log2
                        && (less_1 == 16'd0
                            || (\u_in.u_ext.in_strides_i [39:0] == {22'd0, src_pitch} << src_log2
                                && \u_in.u_loc.in_strides_i [22:0]
                                   == {5'd0, dst_pitch} << dst_log2))));
      as_specified: assert(!taken || (verdict.bad == bad && verdict.idle == (bad || nop)
                                      && (!bad || verdict.rule == rule) && tag_out == desc_tag));
      job_exact: assert(!taken || !served || wide || nop || job_out == its);
      reach_legal: assert(!(taken && !verdict.bad && !verdict.idle));
      reach_nop: assert(!(taken && !verdict.bad && verdict.idle));
      reach_widths: assert(!(taken && (verdict.rule == 8'd2 || verdict.rule == 8'd5)));
      reach_alignment: assert(!(taken && (verdict.rule == 8'd3 || verdict.rule == 8'd6)));
      reach_end: assert(!(taken && (verdict.rule == 8'd4 || verdict.rule == 8'd12)));
    end
  end
endmodule

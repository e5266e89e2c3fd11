// SPDX-License-Identifier: Apache-2.0
//
// The verdict of pto_nz_check on every descriptor is that of the rules of nd2nz.md 6, written here a
// second time from sections 1 to 4. The extents are cut out: what goes into pto_extent is that of the
// specification, and the verdict is right for any sum. The sum of L1 is in blocks of 32 bytes. The
// job of a legal op has the rows of its matrix, and the access that suits them, from plain products.
// Sources: pto_mte2/pto_nz_check.sv
// Bugs: nz_l03_d:as_specified nz_l05_five_channels:as_specified nz_l07_c0_of_bytes:as_specified
// Bugs: nz_l07_loop4_small:as_specified nz_l08_small_extent:terms nz_l08_after_last_group:terms
// Bugs: nz_rows_lose_bit_13:terms
`include "pto_records.vh"
`include "pto_cut.vh"

module prove (
  input wire         clk,
  input wire         desc_valid,
  input wire [511:0] desc,
  input wire [7:0]   desc_tag,
  input wire [511:0] other,                  // descriptor at the input when the verdict leaves
  input wire         job_ready
);
  reg rst_n = 1'b0;
  always @(posedge clk) rst_n <= 1'b1;

  wire               ready_in, ready_out, busy_in, busy_out, valid_in, valid_out;
  wire [7:0]         tag_in, tag_out;
  wire pto_verdict_t verdict_in, verdict;
  wire pto_nz_job_t  job_in, job_out;
  pto_nz_check u_in (
    .clk_i(clk), .rst_ni(rst_n), .desc_valid_i(desc_valid), .desc_ready_o(ready_in), .desc_i(desc),
    .desc_tag_i(desc_tag), .busy_o(busy_in), .job_valid_o(valid_in), .job_ready_i(job_ready),
    .job_tag_o(tag_in), .job_verdict_o(verdict_in), .job_o(job_in)
  );
  pto_nz_check u_out (
    .clk_i(clk), .rst_ni(rst_n), .desc_valid_i(1'b1), .desc_ready_o(ready_out), .desc_i(other),
    .desc_tag_i(8'd0), .busy_o(busy_out), .job_valid_o(valid_out), .job_ready_i(job_ready),
    .job_tag_o(tag_out), .job_verdict_o(verdict), .job_o(job_out)
  );
  localparam integer Word = 8 + 6 + `PTO_NZ_JOB_BITS - 23;
  (* hierconn *) wire            \u_in.u_ext.in_valid_i ;
  (* hierconn *) wire            \u_in.u_ext.last ;
  (* hierconn *) wire            \u_in.u_ext.in_skip_i ;
  (* hierconn *) wire [43:0]     \u_in.u_ext.in_base_i ;
  (* hierconn *) wire [17:0]     \u_in.u_ext.in_tail_i ;
  (* hierconn *) wire [31:0]     \u_in.u_ext.in_digits_i ;
  (* hierconn *) wire [79:0]     \u_in.u_ext.in_strides_i ;
  (* hierconn *) wire            \u_in.u_span.in_valid_i ;
  (* hierconn *) wire            \u_in.u_span.in_skip_i ;
  (* hierconn *) wire [17:0]     \u_in.u_span.in_base_i ;
  (* hierconn *) wire            \u_in.u_span.in_tail_i ;
  (* hierconn *) wire [31:0]     \u_in.u_span.in_digits_i ;
  (* hierconn *) wire [45:0]     \u_in.u_span.in_strides_i ;
  (* hierconn *) wire            \u_out.u_span.out_ready_i ;
  (* hierconn *) wire [39:0]     \u_out.u_span.sum ;
  (* hierconn *) wire            \u_in.u_loc.in_valid_i ;
  (* hierconn *) wire            \u_in.u_loc.last ;
  (* hierconn *) wire            \u_in.u_loc.in_skip_i ;
  (* hierconn *) wire [18:0]     \u_in.u_loc.in_base_i ;
  (* hierconn *) wire [14:0]     \u_in.u_loc.in_tail_i ;
  (* hierconn *) wire [47:0]     \u_in.u_loc.in_digits_i ;
  (* hierconn *) wire [47:0]     \u_in.u_loc.in_strides_i ;
  (* hierconn *) wire            \u_in.u_jobs.wr_valid_i ;
  (* hierconn *) wire            \u_in.u_jobs.wr_ready_o ;
  (* hierconn *) wire [Word-1:0] \u_in.u_jobs.wr_data_i ;
  (* hierconn *) wire            \u_out.u_ext.out_valid_o ;
  (* hierconn *) wire            \u_out.u_ext.out_ready_i ;
  (* hierconn *) wire [57:0]     \u_out.u_ext.sum ;
  (* hierconn *) wire            \u_out.u_loc.out_ready_i ;
  (* hierconn *) wire [32:0]     \u_out.u_loc.sum ;
  (* hierconn *) wire            \u_out.u_jobs.rd_ready_i ;
  (* hierconn *) wire [Word-1:0] \u_out.u_jobs.out ;
  assign \u_out.u_jobs.out = \u_in.u_jobs.wr_data_i ;

  // ---- the operands ----
  wire        served = desc[`PTO_DESC_OPCODE] == `PTO_OP_MTE_GM_L1_FRAC;
  wire [1:0]  elem   = desc[`PTO_NZ_ELEM_LOG2];
  wire        dn     = desc[`PTO_NZ_MODE];
  wire [1:0]  small  = desc[`PTO_NZ_SMALL_C0];
  wire [16:0] n      = desc[`PTO_NZ_N_VALUE];
  wire [21:0] d      = desc[`PTO_NZ_D_VALUE];
  wire [16:0] groups = desc[`PTO_NZ_GROUP_COUNT];
  wire [43:0] src    = desc[`PTO_NZ_EXT_ADDR];
  wire [23:0] dst    = desc[`PTO_NZ_LOC_ADDR];
  wire [40:0] inner  = desc[`PTO_NZ_INNER_STRIDE];
  wire [40:0] outer  = desc[`PTO_NZ_OUTER_STRIDE];
  wire [16:0] loop2  = desc[`PTO_NZ_DST_LOOP2];
  wire [16:0] loop3  = desc[`PTO_NZ_DST_LOOP3];
  wire [16:0] loop4  = desc[`PTO_NZ_DST_LOOP4];
  wire nop = n == 17'd0 || d == 22'd0;

  // ---- both ends: base + tail + sum of (count - 1) * stride ----
  wire [21:0] c0      = 22'd32 >> elem;
  wire [21:0] columns = (d + c0 - 22'd1) >> (elem == 2'd0 ? 5 : elem == 2'd1 ? 4 : 3);
  wire [23:0] run     = (dn ? {7'd0, n} : {2'd0, d}) << elem;          // bytes of a source row
  wire [23:0] packed_bytes = {7'd0, n} << (2 + elem);                  // of a small-C0 group
  wire [23:0] tail    = small == 2'd1 ? (packed_bytes + 24'd31) >> 5 : 24'd1;
  wire [21:0] rows    = dn ? d : {5'd0, n};
  wire [15:0] rows_less_1    = rows[15:0] - 16'd1;
  wire [15:0] n_less_1       = n[15:0] - 16'd1;
  wire [15:0] columns_less_1 = columns[15:0] - 16'd1;
  wire [15:0] groups_less_1  = groups[15:0] - 16'd1;

  // ---- the rules ----
  wire l03 = n > 17'd16384 || d > 22'd65535 || groups > 17'd4095 || small > 2'd1
             || desc[`PTO_NZ_L2] > 5'd15 || inner > 41'hff_ffff_ffff || outer > 41'hff_ffff_ffff
             || loop2 > 17'd65535 || loop3 > 17'd65535 || loop4 > 17'd65535;
  wire l04 = groups == 17'd0;
  wire l05 = small == 2'd1 && d > 22'd4;
  wire l06 = dst % 24'd32 != 24'd0;
  wire l07 = (small == 2'd0 && ((n > 17'd1 && loop2 == 17'd0) || (d > c0 && loop3 == 17'd0)))
             || (groups > 17'd1 && loop4 == 17'd0);
  wire l08 = !nop && (\u_out.u_ext.sum > 58'd1 << 40 || \u_out.u_loc.sum > 33'd524288 / 33'd32);
  wire early = !served || l03 || l04 || l05 || l06 || l07;
  wire bad   = early || l08;
  wire [7:0] rule = !served ? 8'd0 : l03 ? 8'd3 : l04 ? 8'd4 : l05 ? 8'd5 : l06 ? 8'd6 : l07 ? 8'd7 : 8'd8;

  // ---- the job: which access, and its rows ----
  wire        small_1 = small == 2'd1;
  wire [40:0] row     = {17'd0, run};
  wire        tight   = inner == row;                                  // no gaps
  wire        column  = dn && n == 17'd1 && tight;                     // one, read as a row
  wire        pack    = small_1 && !dn && tight;
  wire        dense   = inner >= row && inner - row < 41'd32
                        && (!dn || row <= (small_1 ? 41'd1024 : 41'd128 << elem));
  wire [40:0] per     = 41'd8 >> elem;                                 // rows of a small-C0 block
  wire [40:0] last_block  = ({24'd0, n} - 41'd1) & (per - 41'd1);      // its rows, less 1
  wire [40:0] blocks  = ({24'd0, n} + per - 41'd1) >> (2'd3 - elem);
  wire [40:0] ends_in = (last_block + 41'd1) * {19'd0, d[21:0]} << elem;
  wire pto_nz_job_t its;
  assign its.tiled    = dn && !column;
  assign its.small_c0 = small_1;
  assign its.elem     = elem;
  assign its.dense    = dense;
  assign its.pack     = pack;
  assign its.chans    = small_1 ? d[2:0] : job_out.chans;
  assign its.tail     = pack ? ends_in[5:0] : job_out.tail;
  assign its.row      = pack ? 18'd8 * d[17:0] : column ? d[17:0] << elem : run[17:0];
  assign its.rows     = pack ? blocks[15:0] : column ? 16'd1 : rows[15:0];
  assign its.groups   = groups_less_1[11:0];
  assign its.src      = src[39:0];
  assign its.inner    = pack ? 40'd8 * d[17:0] : inner[39:0];
  assign its.outer    = outer[39:0];
  assign its.dst      = dst[19:5];
  assign its.loop2    = loop2[14:0];
  assign its.loop3    = loop3[14:0];
  assign its.loop4    = loop4[14:0];
  assign its.span     = \u_out.u_span.sum [22:0];

  wire taken = rst_n && desc_valid && ready_in;
  always @* begin
    assume(elem != 2'd3);                    // ND-L01, of class S
    if (rst_n) begin
      in_step: assert(taken == (\u_in.u_ext.in_valid_i && \u_in.u_ext.last )
                      && taken == (\u_in.u_loc.in_valid_i && \u_in.u_loc.last )
                      && taken == (\u_in.u_jobs.wr_valid_i && \u_in.u_jobs.wr_ready_o )
                      && valid_out == \u_out.u_ext.out_valid_o
                      && \u_out.u_jobs.rd_ready_i == (valid_out && job_ready)
                      && (!valid_out || (\u_out.u_ext.out_ready_i == job_ready
                                         && \u_out.u_loc.out_ready_i == job_ready)));
      terms: assert(!taken || early || nop
                    || (!\u_in.u_ext.in_skip_i && !\u_in.u_loc.in_skip_i
                        && \u_in.u_ext.in_base_i == src
                        && {6'd0, \u_in.u_ext.in_tail_i } == run
                        && \u_in.u_ext.in_digits_i == {rows_less_1, groups_less_1}
                        && \u_in.u_ext.in_strides_i == {inner[39:0], outer[39:0]}
                        && \u_in.u_loc.in_base_i == dst / 24'd32
                        && {9'd0, \u_in.u_loc.in_tail_i } == tail
                        && \u_in.u_loc.in_digits_i [15:0] == groups_less_1
                        && \u_in.u_loc.in_strides_i [15:0] == loop4[15:0]
                        && \u_in.u_loc.in_digits_i [47:16]
                           == (small == 2'd1 ? 32'd0 : {n_less_1, columns_less_1})
                        && (small == 2'd1
                            || \u_in.u_loc.in_strides_i [47:16] == {loop2[15:0], loop3[15:0]})));
      // A sum waits with nothing but its last digit.
      side_by_side: assert((\u_in.u_ext.in_valid_i
                            || !(desc_valid && \u_in.u_jobs.wr_ready_o && !\u_in.u_ext.last ))
                           && (\u_in.u_loc.in_valid_i
                               || !(desc_valid && \u_in.u_jobs.wr_ready_o && !\u_in.u_loc.last )));
      span_terms: assert(\u_in.u_span.in_valid_i == \u_in.u_ext.in_valid_i
                         && (!valid_out || \u_out.u_span.out_ready_i == job_ready)
                         && (!taken || early || nop
                             || (!\u_in.u_span.in_skip_i && !\u_in.u_span.in_tail_i
                                 && {6'd0, \u_in.u_span.in_base_i } == run
                                 && \u_in.u_span.in_digits_i == {rows_less_1, groups_less_1}
                                 && \u_in.u_span.in_strides_i == {inner[22:0], 23'd0})));
      job_exact: assert(!taken || early || nop || job_out == its);
      as_specified: assert(!taken || (verdict.bad == bad && verdict.idle == (bad || nop)
                                      && (!bad || verdict.rule == rule) && tag_out == desc_tag));
      reach_legal: assert(!(taken && !verdict.bad && !verdict.idle));
      reach_nop: assert(!(taken && !verdict.bad && verdict.idle));
      reach_rule_7: assert(!(taken && verdict.rule == 8'd7));
      reach_pack: assert(!(taken && !verdict.bad && pack && dense && last_block != 41'd0));
      reach_column: assert(!(taken && !verdict.bad && column));
      reach_end: assert(!(taken && verdict.rule == 8'd8));
    end
  end
endmodule

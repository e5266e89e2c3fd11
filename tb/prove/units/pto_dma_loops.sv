// SPDX-License-Identifier: Apache-2.0
//
// Properties of pto_dma_loops for up to 4 iterations in each level: a row stays until it is taken,
// unless its op fails; its addresses are those of the nested loops (their low bits), the last row is
// marked as such and no other, and a failed op ends at once, with a record of the failure.
// Sources: common/dma/pto_dma_loops.sv
// Bugs: loop0_reload_one_short:last_exact loop0_reload_from_loop1:last_exact
// Bugs: loop_base_not_carried:ext_address ub_stride_of_wrong_level:lemma_loc_2
// Bugs: space_stale:fields compact_fill_behind_first_row:foot
// Bugs: compact_fill_of_last_group_only:foot
`include "pto_records.vh"

module prove (
  input wire         clk,
  input wire         job_valid,
  input wire [3:0]   id,
  input pto_row_t    row_in,                 // all but the addresses
  input wire [4:0]   more,
  input wire [1:0]   last_0,                 // iterations less 1, of the innermost level first
  input wire [1:0]   last_1,
  input wire [1:0]   last_2,
  input wire [1:0]   last_3,
  input wire [2:0]   ext_0,                  // strides
  input wire [2:0]   ext_1,
  input wire [2:0]   ext_2,
  input wire [2:0]   ext_3,
  input wire [2:0]   loc_0,
  input wire [2:0]   loc_1,
  input wire [2:0]   loc_2,
  input wire [2:0]   loc_3,
  input wire [2:0]   ext,                    // first addresses
  input wire [2:0]   loc,
  input wire [15:0]  err,
  input wire         row_ready
);
  reg rst_n = 1'b0;
  always @(posedge clk) rst_n <= 1'b1;

  wire          job_ready, row_valid;
  pto_row_t     row, first_row;
  pto_dma_job_t job;
  always @* begin
    first_row          = row_in;
    first_row.ext_addr = {37'd0, ext};
    first_row.loc.addr = {17'd0, loc};
    job.row        = first_row;
    job.more       = more;
    job.last       = {19'd0, last_3, 19'd0, last_2, 19'd0, last_1, 19'd0, last_0};
    job.ext_stride = {37'd0, ext_3, 37'd0, ext_2, 37'd0, ext_1, 37'd0, ext_0};
    job.loc_stride = {17'd0, loc_3, 17'd0, loc_2, 17'd0, loc_1, 17'd0, loc_0};
  end
  pto_dma_loops u_loops (
    .clk_i(clk), .rst_ni(rst_n), .job_valid_i(job_valid), .job_ready_o(job_ready), .job_id_i(id),
    .job_i(job), .err_i(err), .row_valid_o(row_valid), .row_ready_i(row_ready), .row_o(row)
  );
  (* hierconn *) wire [20:0] \u_loops.left0_q ;
  (* hierconn *) wire [20:0] \u_loops.left1_q ;
  (* hierconn *) wire [20:0] \u_loops.left2_q ;
  (* hierconn *) wire [20:0] \u_loops.left3_q ;
  (* hierconn *) wire [62:0] \u_loops.last_q ;
  (* hierconn *) wire [159:0] \u_loops.ext_stride_q ;
  (* hierconn *) wire [79:0] \u_loops.loc_stride_q ;
  (* hierconn *) wire [39:0] \u_loops.ext1_q ;
  (* hierconn *) wire [39:0] \u_loops.ext2_q ;
  (* hierconn *) wire [39:0] \u_loops.ext3_q ;
  (* hierconn *) wire [19:0] \u_loops.loc1_q ;
  (* hierconn *) wire [19:0] \u_loops.loc2_q ;
  (* hierconn *) wire [19:0] \u_loops.loc3_q ;

  // The job in work, and the iteration of each level. Only low bits of the addresses are followed.
  reg        busy = 1'b0;
  reg [3:0]  op;
  pto_row_t  sample;
  reg [4:0]  extra;
  reg [1:0]  n_0, n_1, n_2, n_3;             // iterations less 1
  reg [1:0]  i_0, i_1, i_2, i_3;             // this iteration
  reg [11:0] by_ext, by_loc;                 // strides
  reg [2:0]  ext_at, loc_at;
  wire       take = rst_n && job_valid && job_ready;
  wire       fire = rst_n && row_valid && row_ready;
  wire       top_0 = i_0 == n_0, top_1 = i_1 == n_1, top_2 = i_2 == n_2, top_3 = i_3 == n_3;
  wire       failed = err[op];
  wire       ends = failed || (top_0 && top_1 && top_2 && top_3);
  always @(posedge clk) if (rst_n) begin
    busy <= take || (busy && !(fire && ends));
    if (take) begin
      {op, extra}          <= {id, more};
      sample               <= first_row;
      {n_3, n_2, n_1, n_0} <= {last_3, last_2, last_1, last_0};
      {i_3, i_2, i_1, i_0} <= 8'd0;
      by_ext               <= {ext_3, ext_2, ext_1, ext_0};
      by_loc               <= {loc_3, loc_2, loc_1, loc_0};
      {ext_at, loc_at}     <= {ext, loc};
    end else if (fire) begin
      i_0 <= top_0 ? 2'd0 : i_0 + 2'd1;
      if (top_0) i_1 <= top_1 ? 2'd0 : i_1 + 2'd1;
      if (top_0 && top_1) i_2 <= top_2 ? 2'd0 : i_2 + 2'd1;
      if (top_0 && top_1 && top_2) i_3 <= i_3 + 2'd1;
    end
  end

  // How far an iteration is from the first of its level, modulo 8. A level begins where the
  // iteration of the level around it does: lemmas of levels 3 to 1, and the address of the row, add up.
  function [2:0] far;
    input [1:0] count;
    input [2:0] stride;
    far = (count[0] ? stride : 3'd0) + (count[1] ? {stride[1:0], 1'b0} : 3'd0);
  endfunction

  reg         held = 1'b0;
  reg  [9:0]  held_now;
  pto_row_t   fixed;
  wire [9:0]  now = {row.ext_addr[39], row.ext_addr[2:0], row.loc.addr[19], row.loc.addr[2:0],
                     row.loc.last, row.loc.cut};
  always @* begin
    fixed           = sample;
    fixed.ext_addr  = row.ext_addr;
    fixed.loc.addr  = row.loc.addr;
    fixed.loc.foot  = row.loc.foot;
    fixed.loc.cut   = failed;
    fixed.loc.last  = ends;
    fixed.loc.id    = op;
  end
  always @(posedge clk) if (rst_n) begin
    held     <= row_valid && !row_ready && !failed;
    held_now <= now;
  end

  always @* if (rst_n) begin
    lemma_counts: assert(!busy || (i_0 <= n_0 && i_1 <= n_1 && i_2 <= n_2 && i_3 <= n_3
                                   && \u_loops.last_q == {19'd0, n_2, 19'd0, n_1, 19'd0, n_0}));
    lemma_left: assert(!busy || (\u_loops.left0_q == {19'd0, n_0 - i_0}
                                 && \u_loops.left1_q == {19'd0, n_1 - i_1}
                                 && \u_loops.left2_q == {19'd0, n_2 - i_2}
                                 && \u_loops.left3_q == {19'd0, n_3 - i_3}));
    lemma_ext_stride: assert(!busy || by_ext == {\u_loops.ext_stride_q [122:120],
                             \u_loops.ext_stride_q [82:80], \u_loops.ext_stride_q [42:40],
                             \u_loops.ext_stride_q [2:0]});
    lemma_ext_3: assert(!busy || \u_loops.ext3_q [2:0] == ext_at + far(i_3, by_ext[11:9]));
    lemma_ext_2: assert(!busy || \u_loops.ext2_q [2:0]
                        == \u_loops.ext3_q [2:0] + far(i_2, by_ext[8:6]));
    lemma_ext_1: assert(!busy || \u_loops.ext1_q [2:0]
                        == \u_loops.ext2_q [2:0] + far(i_1, by_ext[5:3]));
    lemma_loc_stride: assert(!busy || by_loc == {\u_loops.loc_stride_q [62:60],
                             \u_loops.loc_stride_q [42:40], \u_loops.loc_stride_q [22:20],
                             \u_loops.loc_stride_q [2:0]});
    lemma_loc_3: assert(!busy || \u_loops.loc3_q [2:0] == loc_at + far(i_3, by_loc[11:9]));
    lemma_loc_2: assert(!busy || \u_loops.loc2_q [2:0]
                        == \u_loops.loc3_q [2:0] + far(i_2, by_loc[8:6]));
    lemma_loc_1: assert(!busy || \u_loops.loc1_q [2:0]
                        == \u_loops.loc2_q [2:0] + far(i_1, by_loc[5:3]));
    offered: assert(row_valid == busy);
    job_ready_exact: assert(job_ready == (!busy || (row_ready && ends)));
    stable: assert(!held || (row_valid && (failed || now == held_now)));
    ext_address: assert(!row_valid || row.ext_addr[2:0]
                                      == \u_loops.ext1_q [2:0] + far(i_0, by_ext[2:0]));
    local_address: assert(!row_valid || row.loc.addr[2:0]
                                        == \u_loops.loc1_q [2:0] + far(i_0, by_loc[2:0]));
    last_exact: assert(!row_valid || row.loc.last == ends);
    cut_exact: assert(!row_valid || row.loc.cut == failed);
    fields: assert(!row_valid || row == fixed);
    foot: assert(!row_valid || row.loc.foot == sample.loc.foot + (top_0 ? {16'd0, extra} : 21'd0));
    reach_end_of_loops: assert(!(fire && ends && !failed && n_0 == 2'd1 && i_1 == 2'd1
                                && i_2 == 2'd1));
    reach_cut: assert(!(fire && failed && !top_0));
  end
endmodule

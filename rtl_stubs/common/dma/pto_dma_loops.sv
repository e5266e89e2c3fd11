// SPDX-License-Identifier: Apache-2.0
//
// Walks the rows of a DMA job: nburst innermost, then up to three loops. Addresses are
// kept per level and advanced by one adder per side; no multiplier is in the row path.
// Throughput: one row per clock, also across levels and from one job to the next.
// Latency: the first row is offered one clock after the job was taken.
// After an error in its op the walk is cut short: one record with cut and
// last replaces the remaining rows. The last row of each burst group may have a
// longer footprint than the others (fill of a compact group). Spec: dma.md section 2.
//
//   clk        _/~\_/~\_/~\_/~\_
//   job_valid  _/~~~\___________      job of two rows
//   row_valid  _____/~~~~~~~\___      stays until row_ready; the address may only change after
`default_nettype none
`include "pto_records.vh"

module pto_dma_loops (
  input  wire                       clk_i,       // clock
  input  wire                       rst_ni,      // asynchronous reset, active low
  input  wire                       job_valid_i, // a job is there
  output wire                       job_ready_o, // it is taken
  input  wire [3:0]                 job_id_i,    // its op number
  input  wire pto_dma_job_t         job_i,       // the job
  input  wire [`PTO_NUM_ACTIVE-1:0] err_i,       // per op: an access failed
  output wire                       row_valid_o, // a row is there
  input  wire                       row_ready_i, // it is taken
  output wire pto_row_t             row_o        // the row
);
  localparam integer G = 40;                 // bits of an ext address
  localparam integer L = 20;                 // bits of a local address

  reg           active_q;
  reg [3:0]     id_q;
  pto_row_t     row_q;                       // all but the addresses
  reg [4:0]     more_q;
  reg [62:0]    last_q;                      // reload values of the inner three counters
  reg [4*G-1:0] ext_stride_q;
  reg [4*L-1:0] loc_stride_q;
  reg [20:0]    left0_q, left1_q, left2_q, left3_q; // iterations left after this one
  reg [G-1:0]   ext0_q, ext1_q, ext2_q, ext3_q; // where this iteration of level k began
  reg [L-1:0]   loc0_q, loc1_q, loc2_q, loc3_q;

  // Level to advance: the innermost that is not at its end.
  wire       end0 = left0_q == 21'd0;
  wire       end1 = left1_q == 21'd0;
  wire       end2 = left2_q == 21'd0;
  wire       end3 = left3_q == 21'd0;
  wire [1:0] level = !end0 ? 2'd0 : !end1 ? 2'd1 : !end2 ? 2'd2 : 2'd3;

  reg [G-1:0] ext_from, ext_step;
  reg [L-1:0] loc_from, loc_step;
  always @* begin
    case (level)
      2'd0:    begin
        ext_from = ext0_q; ext_step = ext_stride_q[0 +: G];
        loc_from = loc0_q; loc_step = loc_stride_q[0 +: L];
      end
      2'd1:    begin
        ext_from = ext1_q; ext_step = ext_stride_q[G +: G];
        loc_from = loc1_q; loc_step = loc_stride_q[L +: L];
      end
      2'd2:    begin
        ext_from = ext2_q; ext_step = ext_stride_q[2*G +: G];
        loc_from = loc2_q; loc_step = loc_stride_q[2*L +: L];
      end
      default: begin
        ext_from = ext3_q; ext_step = ext_stride_q[3*G +: G];
        loc_from = loc3_q; loc_step = loc_stride_q[3*L +: L];
      end
    endcase
  end
  wire [G-1:0] ext_next = ext_from + ext_step;
  wire [L-1:0] loc_next = loc_from + loc_step;

  wire   abort       = err_i[id_q];
  wire   row_last    = abort || (end0 && end1 && end2 && end3);
  wire   row_fire    = active_q && row_ready_i;
  assign row_valid_o = active_q;
  assign job_ready_o = !active_q || (row_fire && row_last);
  wire   load        = job_valid_i && job_ready_o;

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) active_q <= 1'b0;
    else if (job_ready_o) active_q <= job_valid_i;
  end

  always @(posedge clk_i) begin
    if (load) begin
      id_q         <= job_id_i;
      row_q        <= job_i.row;
      more_q       <= job_i.more;
      last_q       <= job_i.last[62:0];
      ext_stride_q <= job_i.ext_stride;
      loc_stride_q <= job_i.loc_stride;
      {left3_q, left2_q, left1_q, left0_q} <= job_i.last;
      {ext3_q, ext2_q, ext1_q, ext0_q}     <= {4{job_i.row.ext_addr}};
      {loc3_q, loc2_q, loc1_q, loc0_q}     <= {4{job_i.row.loc.addr}};
    end else if (row_fire) begin
      ext0_q  <= ext_next;
      loc0_q  <= loc_next;
      left0_q <= end0 ? last_q[20:0] : left0_q - 21'd1;
      if (level != 2'd0) begin
        ext1_q  <= ext_next;
        loc1_q  <= loc_next;
        left1_q <= end1 ? last_q[41:21] : left1_q - 21'd1;
      end
      if (level[1]) begin
        ext2_q  <= ext_next;
        loc2_q  <= loc_next;
        left2_q <= end2 ? last_q[62:42] : left2_q - 21'd1;
      end
      if (level == 2'd3) begin
        ext3_q  <= ext_next;
        loc3_q  <= loc_next;
        left3_q <= left3_q - 21'd1;
      end
    end
  end

  // All fields but these are those of the job.
  wire [L:0] foot = end0 ? row_q.loc.foot + {{(L - 4){1'b0}}, more_q} : row_q.loc.foot;
  assign row_o = {row_q.atomic, row_q.widen, row_q.ext_space, ext0_q, abort, row_last, id_q,
                  row_q.loc.space, loc0_q, row_q.loc.len, row_q.loc.left, foot,
                  row_q.loc.pattern, row_q.loc.fill, row_q.loc.elem};

  wire unused = &{1'b0, row_q};
endmodule

`default_nettype wire

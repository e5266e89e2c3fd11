// SPDX-License-Identifier: Apache-2.0
//
// Walks the rows of a strided DMA job: nburst innermost, then up to three loops. Addresses are
// kept per level and advanced by one adder per side; no multiplier is in the row path.
// Throughput: one row per clock, also across levels and from one job to the next.
// Latency: the first row is offered one clock after the job was taken.
// After an error in its op (abort_i) the walk is cut short: one record with row_end_o and
// row_last_o and no bytes replaces the remaining rows. The last row of each burst group may have a
// longer footprint than the others (fill of a compact group). Spec: dma.md section 2.
//
//   clk        _/~\_/~\_/~\_/~\_
//   job_valid  _/~~~\___________      job of two rows
//   row_valid  _____/~~~~~~~\___      stays until row_ready; the address may only change after
`default_nettype none

module pto_dma_loops #(
  parameter integer LocalAddrWidth = 20,     // bits of an on-chip byte address
  parameter integer GmAddrWidth    = 40,     // bits of a GM byte address
  parameter integer IdWidth        = 4       // bits of an op number
) (
  input  wire                        clk_i,            // clock
  input  wire                        rst_ni,           // asynchronous reset, active low
  input  wire                        job_valid_i,      // a job is there
  output wire                        job_ready_o,      // it is taken
  input  wire [IdWidth-1:0]          job_id_i,         // op number of the job
  input  wire [GmAddrWidth-1:0]      job_ext_addr_i,   // ext address of the first row
  input  wire [LocalAddrWidth-1:0]   job_loc_addr_i,   // local address of the first row
  input  wire [2:0]                  job_space_i,      // local space
  input  wire [19:0]                 job_len_i,        // data bytes of a row
  input  wire [5:0]                  job_left_i,       // pad bytes before the data
  input  wire [LocalAddrWidth:0]     job_foot_i,       // local bytes of a row, pad included
  input  wire [4:0]                  job_more_i,       // more of the last row of each group
  input  wire [31:0]                 job_pattern_i,    // pad pattern
  input  wire                        job_fill_i,       // the first element fills in its place
  input  wire [1:0]                  job_elem_i,       // log2 of the bytes of an element
  input  wire [83:0]                 job_last_i,       // counts less 1: loop 2, 1, 0, rows
  input  wire [4*GmAddrWidth-1:0]    job_ext_stride_i, // ext strides in the same order
  input  wire [4*LocalAddrWidth-1:0] job_loc_stride_i, // local strides in the same order
  input  wire                        abort_i,          // an access of op row_id_o went wrong
  output wire                        row_valid_o,      // a row is there
  input  wire                        row_ready_i,      // it is taken
  output wire                        row_end_o,        // no row: the op ends here, cut short
  output wire                        row_last_o,       // last record of the op
  output wire [IdWidth-1:0]          row_id_o,         // op number
  output wire [GmAddrWidth-1:0]      row_ext_addr_o,   // ext address of the row
  output wire [LocalAddrWidth-1:0]   row_loc_addr_o,   // local address of the row
  output wire [2:0]                  row_space_o,      // local space
  output wire [19:0]                 row_len_o,        // data bytes
  output wire [5:0]                  row_left_o,       // pad bytes before the data
  output wire [LocalAddrWidth:0]     row_foot_o,       // local bytes, pad included
  output wire [31:0]                 row_pattern_o,    // pad pattern
  output wire                        row_fill_o,       // the first element fills in its place
  output wire [1:0]                  row_elem_o        // log2 of the bytes of an element
);
  localparam integer G = GmAddrWidth;
  localparam integer L = LocalAddrWidth;

  reg               active_q;
  reg [IdWidth-1:0] id_q;
  reg [2:0]         space_q;
  reg [19:0]        len_q;
  reg [5:0]         left_q;
  reg [L:0]         foot_q;
  reg [4:0]         more_q;
  reg [31:0]        pattern_q;
  reg               fill_q;
  reg [1:0]         elem_q;
  reg [62:0]        last_q;                  // reload values of the inner three counters
  reg [4*G-1:0]     ext_stride_q;
  reg [4*L-1:0]     loc_stride_q;
  reg [20:0]        left0_q, left1_q, left2_q, left3_q;  // iterations left after this one
  reg [G-1:0]       ext0_q, ext1_q, ext2_q, ext3_q;      // where this iteration of level k began
  reg [L-1:0]       loc0_q, loc1_q, loc2_q, loc3_q;

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

  assign row_valid_o = active_q;
  assign row_end_o   = abort_i;
  assign row_last_o  = abort_i || (end0 && end1 && end2 && end3);
  wire   row_fire    = active_q && row_ready_i;
  assign job_ready_o = !active_q || (row_fire && row_last_o);
  wire   load        = job_valid_i && job_ready_o;

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) active_q <= 1'b0;
    else if (job_ready_o) active_q <= job_valid_i;
  end

  always @(posedge clk_i) begin
    if (load) begin
      id_q         <= job_id_i;
      space_q      <= job_space_i;
      len_q        <= job_len_i;
      left_q       <= job_left_i;
      foot_q       <= job_foot_i;
      more_q       <= job_more_i;
      pattern_q    <= job_pattern_i;
      fill_q       <= job_fill_i;
      elem_q       <= job_elem_i;
      last_q       <= job_last_i[62:0];
      ext_stride_q <= job_ext_stride_i;
      loc_stride_q <= job_loc_stride_i;
      {left3_q, left2_q, left1_q, left0_q} <= job_last_i;
      {ext3_q, ext2_q, ext1_q, ext0_q}     <= {4{job_ext_addr_i}};
      {loc3_q, loc2_q, loc1_q, loc0_q}     <= {4{job_loc_addr_i}};
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

  assign row_id_o       = id_q;
  assign row_ext_addr_o = ext0_q;
  assign row_loc_addr_o = loc0_q;
  assign row_space_o    = space_q;
  assign row_len_o      = len_q;
  assign row_left_o     = left_q;
  assign row_foot_o     = end0 ? foot_q + {{(L - 4){1'b0}}, more_q} : foot_q;
  assign row_pattern_o  = pattern_q;
  assign row_fill_o     = fill_q;
  assign row_elem_o     = elem_q;
endmodule

`default_nettype wire

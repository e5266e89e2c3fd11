// SPDX-License-Identifier: Apache-2.0
// Addresses of the rows of a strided op: rows innermost, then up to three loops. Each level keeps
// the start of its current iteration; the innermost level that is not at its end advances by its
// stride and resets the levels below it to that address.
module axi_copy_rows #(
  parameter int GmBits    = 40,
  parameter int LocalBits = 20,
  parameter int CountBits = 22
) (
  input  logic                   clk,
  input  logic                   load,        // take the op: the first row shows a clock later
  input  logic [GmBits-1:0]      src,
  input  logic [LocalBits-1:0]   dst,
  input  logic [4*CountBits-1:0] counts,      // level 0, the rows, in the low bits; all above 0
  input  logic [4*GmBits-1:0]    src_strides,
  input  logic [4*LocalBits-1:0] dst_strides,
  input  logic                   next,        // this row is finished
  output logic [GmBits-1:0]      row_src,
  output logic [LocalBits-1:0]   row_dst,
  output logic                   row_last
);
  logic [3:0] at_end;
  logic [1:0] level;                          // that advances
  assign level    = !at_end[0] ? 2'd0 : !at_end[1] ? 2'd1 : !at_end[2] ? 2'd2 : 2'd3;
  assign row_last = &at_end;

  logic [4*GmBits-1:0]    from_src;
  logic [4*LocalBits-1:0] from_dst;
  logic [GmBits-1:0]      go_src;
  logic [LocalBits-1:0]   go_dst;
  assign go_src = from_src[level*GmBits+:GmBits] + src_strides[level*GmBits+:GmBits];
  assign go_dst = from_dst[level*LocalBits+:LocalBits] + dst_strides[level*LocalBits+:LocalBits];

  for (genvar k = 0; k < 4; k++) begin : g_level
    logic [CountBits-1:0] left;               // iterations after this one
    assign at_end[k] = left == '0;
    always_ff @(posedge clk)
      if (load) begin
        left                             <= counts[k*CountBits+:CountBits] - 1'b1;
        from_src[k*GmBits+:GmBits]       <= src;
        from_dst[k*LocalBits+:LocalBits] <= dst;
      end else if (next && level >= 2'(k)) begin
        left <= at_end[k] ? counts[k*CountBits+:CountBits] - 1'b1 : left - 1'b1;
        from_src[k*GmBits+:GmBits]       <= go_src;
        from_dst[k*LocalBits+:LocalBits] <= go_dst;
      end
  end

  assign row_src = from_src[GmBits-1:0];
  assign row_dst = from_dst[LocalBits-1:0];
endmodule

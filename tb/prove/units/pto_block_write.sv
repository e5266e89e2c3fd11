// SPDX-License-Identifier: Apache-2.0
//
// Properties of pto_block_write: a request stays until it is granted, each block is written at its
// place, whole and once, unless its op failed, and the end of an op comes with its last word.
// Sources: common/pto_block_write.sv
// Variant: WordBytes=16
// Variant: WordBytes=32
// Variant: WordBytes=64
// Bugs: l0_fin_before_write:end_exact
`include "pto_records.vh"

module prove #(
  parameter integer WordBytes = 32
) (
  input wire         clk,
  input wire [15:0]  err,
  input wire         block_valid,
  input wire         cut,
  input pto_block_t  at,
  input wire [255:0] block,
  input wire         gnt
);
  reg rst_n = 1'b0;
  always @(posedge clk) rst_n <= 1'b1;

  wire                   block_ready, req, fin;
  wire [19:0]            addr;
  wire [WordBytes-1:0]   be;
  wire [8*WordBytes-1:0] wdata;
  wire [3:0]             id;
  pto_block_write #(.WordBytes(WordBytes)) u_write (
    .clk_i(clk), .rst_ni(rst_n), .err_i(err), .block_valid_i(block_valid),
    .block_ready_o(block_ready), .block_cut_i(cut), .block_at_i(at), .block_i(block),
    .dst_req_o(req), .dst_gnt_i(gnt), .dst_addr_o(addr), .dst_be_o(be), .dst_wdata_o(wdata),
    .out_id_o(id), .fin_valid_o(fin)
  );

  // The block in work, and the half of it that is next where a word is half a block.
  reg           busy = 1'b0, upper = 1'b0;
  pto_block_t   now;
  reg   [255:0] data;
  reg           mere, wanted;                // a mere end; its next word is written
  wire          take = rst_n && block_valid && block_ready;
  wire          done = WordBytes != 16 || upper;
  wire          step = busy && (gnt || !req);
  wire  [127:0] half = upper ? data[255:128] : data[127:0];

  always @(posedge clk) if (rst_n) begin
    if (take) {busy, upper, now, data, mere} <= {1'b1, 1'b0, at, block, cut};
    else if (step && done) busy <= 1'b0;
    else if (step) upper <= 1'b1;
    if (take) wanted <= !cut && !err[at.id];
    else if (step) wanted <= wanted && !err[now.id];
  end

  reg held = 1'b0;
  reg [19+WordBytes+8*WordBytes:0] held_word;
  always @(posedge clk) if (rst_n) begin
    held      <= req && !gnt;
    held_word <= {addr, be, wdata};
  end

  always @* begin
    assume(!gnt || req);
    if (rst_n) begin
      stable: assert(!held || (req && held_word == {addr, be, wdata}));
      only_blocks: assert(!req || (busy && !mere));
      written_exact: assert(req == (busy && wanted));
      place: assert(!req || addr == (WordBytes == 16 ? {now.addr, upper, 4'd0}
                                     : WordBytes == 32 ? {now.addr, 5'd0}
                                     : {now.addr[14:1], 6'd0}));
      bytes: assert(!req || be == (WordBytes == 64 ? {{32{now.addr[0]}}, {32{!now.addr[0]}}}
                                   : {WordBytes{1'b1}}));
      value: assert(!req || (WordBytes == 16 ? wdata == half
                             : WordBytes == 32 ? wdata == data : wdata == {data, data}));
      end_exact: assert(fin == (step && done && now.fin));
      whose: assert(!busy || id == now.id);
      ready_exact: assert(block_ready == (!busy || (step && done)));
      reach_drop: assert(!(busy && !mere && !req));
      reach_end: assert(!(fin && req));
    end
  end
endmodule

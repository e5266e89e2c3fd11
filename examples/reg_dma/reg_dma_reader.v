// SPDX-License-Identifier: Apache-2.0
//
// Reads the rows of a job from the SRAM: one word a clock while the SRAM grants and there is room
// for the answers. Each word leaves with the part of it that belongs to the row. An answer with
// an error is reported with the address of its word. With abort no new word is requested.
// Only words that hold a byte of a row are read. The SRAM may answer after any number of clocks.
//
//   clk         _/~\_/~\_/~\_/~\_/~\_
//   mem_req     _/~~~~~~~\___________
//   mem_gnt     _____/~~~\___________
//   mem_rvalid  _____________/~~~\___     any later clock, in order
`default_nettype none

module reg_dma_reader #(
  parameter integer MemWidth     = 256,      // bits of an SRAM word
  parameter integer MemAddrWidth = 19,       // bits of an SRAM byte address
  parameter integer DepthBits    = 5,        // log2 of the words in flight and stored
  parameter integer LaneBits     = $clog2(MemWidth / 8)
) (
  input  wire                    clk,
  input  wire                    rst_n,
  input  wire                    start,
  input  wire [MemAddrWidth-1:0] src,
  input  wire [15:0]             row_len,
  input  wire [15:0]             rows,
  input  wire [MemAddrWidth-1:0] src_stride,
  input  wire                    abort,
  output wire                    idle,       // every word was requested and has come
  output wire                    error,      // the answer on this clock is bad
  output wire [MemAddrWidth-1:0] error_addr,
  output wire                    mem_req,    // stable until granted
  input  wire                    mem_gnt,
  output wire [MemAddrWidth-1:0] mem_addr,   // a multiple of the word
  input  wire                    mem_rvalid,
  input  wire [MemWidth-1:0]     mem_rdata,
  input  wire                    mem_rerr,
  output wire                    word_valid,
  input  wire                    word_ready,
  output wire [MemWidth-1:0]     word_data,
  output wire [LaneBits-1:0]     word_lane,  // first byte that belongs to the row
  output wire [LaneBits:0]       word_bytes  // how many do
);
  localparam [LaneBits:0]  WORD_BYTES = {1'b1, {LaneBits{1'b0}}};
  localparam [DepthBits:0] DEPTH      = {1'b1, {DepthBits{1'b0}}};

  // ---- next word ----
  reg [MemAddrWidth-1:0] row_q;              // start of the row
  reg [MemAddrWidth-1:0] pos_q;              // next byte
  reg [15:0]             left_q;             // bytes left of the row
  reg [15:0]             rows_q;             // rows left, with this one
  reg [15:0]             len_q;
  reg [MemAddrWidth-1:0] stride_q;

  wire [LaneBits-1:0]     lane     = pos_q[LaneBits-1:0];
  wire [LaneBits:0]       room     = WORD_BYTES - {1'b0, lane};
  wire                    row_ends = left_q <= {{(15 - LaneBits){1'b0}}, room};
  wire [LaneBits:0]       bytes    = row_ends ? left_q[LaneBits:0] : room;
  wire [MemAddrWidth-1:0] next_row = row_q + stride_q;

  // ---- words requested, answered and passed on, as pointers with one bit more ----
  reg [DepthBits:0]      asked_q, answered_q, passed_q;
  reg [MemAddrWidth-1:0] addr_of   [0:(1 << DepthBits)-1];
  reg [LaneBits:0]       bytes_of  [0:(1 << DepthBits)-1];
  reg [MemWidth-1:0]     data_of   [0:(1 << DepthBits)-1];
  reg                    req_q;
  reg [MemAddrWidth-1:0] req_addr_q;

  wire full  = asked_q - passed_q == DEPTH;
  wire issue = rows_q != 16'd0 && !abort && !full && (!req_q || mem_gnt);

  wire [DepthBits-1:0] ask    = asked_q[DepthBits-1:0];
  wire [DepthBits-1:0] answer = answered_q[DepthBits-1:0];
  wire [DepthBits-1:0] pass   = passed_q[DepthBits-1:0];

  always @(posedge clk or negedge rst_n) begin
    if (!rst_n) begin
      rows_q     <= 16'd0;
      req_q      <= 1'b0;
      asked_q    <= {(DepthBits + 1){1'b0}};
      answered_q <= {(DepthBits + 1){1'b0}};
      passed_q   <= {(DepthBits + 1){1'b0}};
    end else begin
      if (start) rows_q <= rows;
      else if (issue && row_ends) rows_q <= rows_q - 16'd1;
      if (issue) req_q <= 1'b1;
      else if (mem_gnt) req_q <= 1'b0;
      if (issue) asked_q <= asked_q + 1'b1;
      if (mem_rvalid) answered_q <= answered_q + 1'b1;
      if (start) passed_q <= asked_q;        // drops the words of an aborted job
      else if (word_valid && word_ready) passed_q <= passed_q + 1'b1;
    end
  end

  always @(posedge clk) begin
    if (start) begin
      row_q    <= src;
      pos_q    <= src;
      left_q   <= row_len;
      len_q    <= row_len;
      stride_q <= src_stride;
    end else if (issue) begin
      row_q  <= row_ends ? next_row : row_q;
      pos_q  <= row_ends ? next_row : pos_q + {{(MemAddrWidth - LaneBits - 1){1'b0}}, bytes};
      left_q <= row_ends ? len_q : left_q - {{(15 - LaneBits){1'b0}}, bytes};
    end
    if (issue) begin
      req_addr_q    <= {pos_q[MemAddrWidth-1:LaneBits], {LaneBits{1'b0}}};
      addr_of[ask]  <= pos_q;
      bytes_of[ask] <= bytes;
    end
    if (mem_rvalid) data_of[answer] <= mem_rdata;
  end

  assign idle       = (rows_q == 16'd0 || abort) && asked_q == answered_q;
  assign error      = mem_rvalid && mem_rerr;
  assign error_addr = {addr_of[answer][MemAddrWidth-1:LaneBits], {LaneBits{1'b0}}};
  assign mem_req    = req_q;
  assign mem_addr   = req_addr_q;
  assign word_valid = answered_q != passed_q;
  assign word_data  = data_of[pass];
  assign word_lane  = addr_of[pass][LaneBits-1:0];
  assign word_bytes = bytes_of[pass];
endmodule

`default_nettype wire

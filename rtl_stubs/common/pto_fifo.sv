// SPDX-License-Identifier: Apache-2.0
//
// Queue with a read port that needs no clock (first word falls through), in registers or, with Ram,
// in a RAM with a registered read port, which is read one word ahead; a word written in the clock
// of its own read is bypassed. One word in and one word out per clock at any fill level; a word is
// visible one clock after it was written. Neither ready nor valid depends on the other side of the
// queue, so a queue cuts every combinational path. A writer that cannot be stalled reserves room
// before it requests data (docs/contract.md: "the engine requests only what it can take").
// Limits: Depth is a power of two, at least 2.
//
//   clk       _/~\_/~\_/~\_/~\_
//   wr_valid  _/~~~\___________      wr_ready is 1: the word is taken
//   rd_valid  _____/~~~~~~~\___      stays, with its data, until rd_ready
//   rd_ready  _________/~~~\___
`default_nettype none

module pto_fifo #(
  parameter integer Width = 8,               // bits of a word
  parameter integer Depth = 4,               // words, a power of two, at least 2
  parameter integer Ram   = 0                // 1: the words are in a RAM
) (
  input  wire             clk_i,      // clock
  input  wire             rst_ni,     // asynchronous reset, active low
  input  wire             wr_valid_i, // a word is offered
  output wire             wr_ready_o, // there is room
  input  wire [Width-1:0] wr_data_i,  // the word offered
  output wire             rd_valid_o, // a word is there
  input  wire             rd_ready_i, // it is taken
  output wire [Width-1:0] rd_data_o   // the oldest word
);
  localparam integer PtrWidth = $clog2(Depth);

  reg [PtrWidth:0] wr_ptr_q;                 // one bit more than an index
  reg [PtrWidth:0] rd_ptr_q;

  assign wr_ready_o = wr_ptr_q != {~rd_ptr_q[PtrWidth], rd_ptr_q[PtrWidth-1:0]};
  assign rd_valid_o = wr_ptr_q != rd_ptr_q;

  wire push = wr_valid_i && wr_ready_o;
  wire pop  = rd_valid_o && rd_ready_i;
  wire [PtrWidth:0] rd_ptr_d = pop ? rd_ptr_q + 1'b1 : rd_ptr_q;

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      wr_ptr_q <= {(PtrWidth + 1){1'b0}};
      rd_ptr_q <= {(PtrWidth + 1){1'b0}};
    end else begin
      if (push) wr_ptr_q <= wr_ptr_q + 1'b1;
      rd_ptr_q <= rd_ptr_d;
    end
  end

  generate
    if (Ram != 0) begin : gen_ram
      reg              bypass_q;
      reg [Width-1:0]  wr_data_q;
      wire [Width-1:0] ram_data;
      assign rd_data_o = bypass_q ? wr_data_q : ram_data;

      pto_ram #(
        .Width(Width),
        .Depth(Depth)
      ) u_ram (
        .clk_i,
        .wr_en_i   (push),
        .wr_addr_i (wr_ptr_q[PtrWidth-1:0]),
        .wr_data_i,
        .rd_addr_i (rd_ptr_d[PtrWidth-1:0]),
        .rd_data_o (ram_data)
      );

      always @(posedge clk_i) begin
        bypass_q <= push && (wr_ptr_q[PtrWidth-1:0] == rd_ptr_d[PtrWidth-1:0]);
        if (push) wr_data_q <= wr_data_i;
      end
    end else begin : gen_registers
      reg [Width-1:0] mem_q [0:Depth-1];
      assign rd_data_o = mem_q[rd_ptr_q[PtrWidth-1:0]];

      always @(posedge clk_i) begin
        if (push) mem_q[wr_ptr_q[PtrWidth-1:0]] <= wr_data_i;
      end
    end
  endgenerate
endmodule

`default_nettype wire

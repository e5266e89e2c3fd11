// SPDX-License-Identifier: Apache-2.0
//
// Memory with one write port and one registered read port, the form every RAM compiler and FPGA
// has. One read and one write per clock, read data one clock after the address. A read of the
// address being written returns the old word; the user of the port bypasses (pto_fifo).
// Replace this module by a macro where the technology has one. Limits: no reset of the contents.
// Spec: none; it is the storage of the data queues.
`default_nettype none

module pto_ram #(
  parameter integer Width = 256,             // bits of a word
  parameter integer Depth = 256              // words, a power of two
) (
  input  wire                     clk_i,     // clock
  input  wire                     wr_en_i,   // write wr_data_i this clock
  input  wire [$clog2(Depth)-1:0] wr_addr_i, // word index to write
  input  wire [Width-1:0]         wr_data_i, // word to write
  input  wire [$clog2(Depth)-1:0] rd_addr_i, // word index to read
  output reg  [Width-1:0]         rd_data_o  // the word read at the last clock edge
);
  reg [Width-1:0] mem_q [0:Depth-1];

  always @(posedge clk_i) begin
    if (wr_en_i) mem_q[wr_addr_i] <= wr_data_i;
    rd_data_o <= mem_q[rd_addr_i];
  end
endmodule

`default_nettype wire

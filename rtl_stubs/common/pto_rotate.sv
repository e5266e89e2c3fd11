// SPDX-License-Identifier: Apache-2.0
//
// Rotates a word towards its higher lanes. A selection from the word twice: a simulator needs a
// fraction of the time that steps of shifts need.
// Throughput and latency: combinational. Limits: Lanes and LaneBits are powers of two.
// Spec: dma.md 2, nd2nz.md 3, l0_loads.md 2 move bytes between lanes.
//
//   by_i     0    1            lanes from the highest to the lowest
//   value_o  dcba cbad         with value_i dcba
`default_nettype none

module pto_rotate #(
  parameter integer Lanes    = 32,           // lanes of the word
  parameter integer LaneBits = 8             // bits of a lane
) (
  input  wire [Lanes*LaneBits-1:0] value_i,  // the word
  input  wire [$clog2(Lanes)-1:0]  by_i,     // lanes
  output wire [Lanes*LaneBits-1:0] value_o   // the word, rotated
);
  localparam integer Bits = Lanes * LaneBits;

  wire [$clog2(Lanes)-1:0] from  = {$clog2(Lanes){1'b0}} - by_i;       // what becomes the lowest
  wire [2*Bits-1:0]        twice = {2{value_i}};
  assign value_o = twice[{1'b0, from, {$clog2(LaneBits){1'b0}}} +: Bits];
endmodule

`default_nettype wire

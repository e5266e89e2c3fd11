// SPDX-License-Identifier: Apache-2.0
// Takes the done records of one slot and writes each into the mailbox, with random stalls of
// `done_ready`; with pins Python stalls. With `after_valid_i` it is low until a record was seen, and
// again after it. Simulation only.
`default_nettype none
`timescale 1ns / 1ps

module pto_done_monitor #(
    parameter Slot = 0,         // number of the slot in the mailbox
    parameter TagWidth = 8,     // bits of a tag
    parameter GmAddrWidth = 40  // bits of a GM address
) (
    input  wire                   clk_i,
    input  wire                   rst_ni,
    input  wire [           31:0] seed_i,      // of the random stalls
    input  wire                   reseed_i,    // take the seed
    input  wire [            7:0] stall_i,     // stalls in 256 clocks
    input  wire                   after_valid_i,  // `ready_o` waits for `valid_i`
    input  wire                   pin_mode_i,  // `ready_o` is `pin_ready_i`
    input  wire                   copy_pins_i, // toggles when it is to be copied
    input  wire                   pin_ready_i,
    input  wire                   valid_i,     // from the engine
    output reg                    ready_o,
    input  wire [   TagWidth-1:0] tag_i,
    input  wire [            2:0] status_i,
    input  wire [            7:0] rule_i,
    input  wire [GmAddrWidth-1:0] addr_i
);
  `include "pto_backend.vh"
  `include "pto_random.vh"

  reg [31:0] random;

  initial begin
    ready_o = 1'b0;
    random = 32'd1;
  end

  always @(posedge clk_i) begin
    if (reseed_i) random = pto_seed(seed_i, Slot * 8 + 1);
    if (!rst_ni) begin
      ready_o <= 1'b0;
    end else begin
      if (valid_i && ready_o) `PTO_DONE(Slot, tag_i, status_i, rule_i, addr_i);
      if (!pin_mode_i && (stall_i != 8'd0 || after_valid_i || !ready_o)) begin
        if (stall_i != 8'd0) random = pto_next(random);
        ready_o <= (!after_valid_i || (valid_i && !ready_o)) &&
            (stall_i == 8'd0 || random[7:0] >= stall_i);
      end
    end
  end

  always @(copy_pins_i) if (pin_mode_i && rst_ni) ready_o <= pin_ready_i;
endmodule

`default_nettype wire

// SPDX-License-Identifier: Apache-2.0
// Offers the descriptors of one slot's mailbox ring to the engine, or those that Python drives by
// pins. The C side sets `avail_i` half a clock ahead, when the next descriptor's gap and waits are
// over; descriptors without either follow each other without a bubble:
//   clk_i       _/-\_/-\_/-\_/-\_/-\_
//   desc_valid  ___/-----------\_____
//   desc_ready  ___/---\___/---\_____
//   desc        ---< A >< B    >-----
// Pins are copied 1 ns after the falling edge: values that Python writes at a rising or falling
// edge take effect at the next rising edge. Simulation only.
`default_nettype none
`timescale 1ns / 1ps

module pto_desc_feeder #(
    parameter Slot = 0,        // number of the slot in the mailbox
    parameter DescWidth = 512, // bits of a descriptor
    parameter TagWidth = 8     // bits of a tag
) (
    input  wire                 clk_i,
    input  wire                 rst_ni,
    input  wire                 avail_i,     // the next descriptor of the ring may be offered
    input  wire                 pin_mode_i,  // take descriptors from the pins
    input  wire                 copy_pins,   // toggles when they are to be copied
    input  wire                 pin_valid_i,
    input  wire [DescWidth-1:0] pin_desc_i,
    input  wire [ TagWidth-1:0] pin_tag_i,
    output reg                  desc_valid,  // to the engine
    input  wire                 desc_ready,
    output reg  [DescWidth-1:0] desc,
    output reg  [ TagWidth-1:0] desc_tag
);
  `include "pto_backend.vh"

  reg [DescWidth-1:0] words;
  integer tag;

  initial begin
    desc_valid = 1'b0;
    desc = {DescWidth{1'b0}};
    desc_tag = {TagWidth{1'b0}};
  end

  always @(posedge clk_i) begin
    if (!rst_ni) begin
      desc_valid <= 1'b0;
    end else if (pin_mode_i) begin
      if (desc_valid && desc_ready) `PTO(desc_pins)(Slot, desc_tag, desc);
    end else begin
      if (desc_valid && desc_ready) begin
        `PTO(desc_accept)(Slot);
        desc_valid <= 1'b0;
      end
      if (avail_i && (desc_ready || !desc_valid)) begin
        tag = `PTO(desc_pop)(Slot, words);
        desc_valid <= 1'b1;
        desc <= words;
        desc_tag <= tag;
      end
    end
  end

  // Copied rather than multiplexed: a path from the pins to the engine would be evaluated at every
  // step of the simulation.
  always @(copy_pins) begin
    if (pin_mode_i && rst_ni) begin
      desc_valid <= pin_valid_i;
      desc <= pin_desc_i;
      desc_tag <= pin_tag_i;
    end
  end
endmodule

`default_nettype wire

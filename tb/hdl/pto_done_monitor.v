// SPDX-License-Identifier: Apache-2.0
// Takes the done records of one slot and writes each into the mailbox, with random stalls of
// `done_ready`; with pins Python stalls. With `after_valid_i` it is low until a record was seen,
// and again after it. Simulation only.
`default_nettype none
`timescale 1ns / 1ps

module pto_done_monitor #(
    parameter Slot = 0,         // number of the slot in the mailbox
    parameter TagWidth = 8,     // bits of a tag
    parameter GmAddrWidth = 40  // bits of a GM address
) (
    input  wire                   clk_i,
    input  wire                   rst_ni,
    input  wire [           31:0] seed,           // of the random stalls
    input  wire                   reseed,         // take the seed
    input  wire [            7:0] stall_done,     // stalls in 256 clocks; 255: always
    input  wire                   after_valid_i,  // `done_ready` waits for `done_valid`
    input  wire                   pin_mode_i,     // `done_ready` is `pin_ready_i`
    input  wire                   copy_pins,      // toggles when it is to be copied
    input  wire                   pin_ready_i,
    input  wire                   done_valid,  // from the engine
    output reg                    done_ready,
    input  wire [   TagWidth-1:0] done_tag,
    input  wire [            2:0] done_status,
    input  wire [            7:0] done_rule,
    input  wire [GmAddrWidth-1:0] done_addr
);
  `include "pto_backend.vh"
  `include "pto_random.vh"

  reg [31:0] random;

  initial begin
    done_ready = 1'b0;
    random = 32'd1;
  end

  always @(posedge clk_i) begin
    if (reseed) random = pto_seed(seed, Slot * 8 + 1);
    if (!rst_ni) begin
      done_ready <= 1'b0;
    end else begin
      if (done_valid && done_ready) `PTO(done)(Slot, done_tag, done_status, done_rule, done_addr);
      if (!pin_mode_i && (stall_done != 8'd0 || after_valid_i || !done_ready)) begin
        if (stall_done != 8'd0) random = pto_next(random);
        done_ready <= (!after_valid_i || (done_valid && !done_ready)) &&
            (stall_done == 8'd0 || (random[7:0] >= stall_done && stall_done != 8'd255));
      end
    end
  end

  always @(copy_pins) if (pin_mode_i && rst_ni) done_ready <= pin_ready_i;
endmodule

`default_nettype wire

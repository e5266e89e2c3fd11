// SPDX-License-Identifier: Apache-2.0
// Ports `par` and `flag` of slot fix: reads of FB parameters, and reads and clears of the unit
// flags that live beside L0C (spec/fixpipe.md section 8). Both take a request a clock; reads are
// pipelined, `latency_i` clocks from grant to rvalid; grants stall at random, each port with
// stalls of its own. A flag read answers what the flags were at its grant; a clear counts at its
// grant and has no answer. A port that has nothing to do is not evaluated: its grant stays.
//   clk_i        _/-\_/-\_/-\_/-\_/-\_
//   flag_req_i   ___/-----------\_____    latency 2; flag 1 of the word is set at the second edge
//   flag_clear_i ___________/---\_____
//   flag_rvalid  ___________/-------\_
//   flag_rdata   -----------< 0 >< 2 >
// An address outside of the memory or an injected fault answers `par_err_o` with rvalid.
// Limits: 63 reads in flight on each port. Simulation only.
`default_nettype none
`timescale 1ns / 1ps

module pto_par_flag_port #(
    parameter Slot = 3,        // number of the slot in the mailbox
    parameter AddrWidth = 20,  // bits of a byte address
    parameter DataWidth = 512  // bits of parameters that are read: 128, 256 or 512
) (
    input  wire                 clk_i,
    input  wire                 rst_ni,
    input  wire [         31:0] cycle_i,      // clocks so far
    input  wire [         31:0] seed_i,       // of the random stalls
    input  wire                 reseed_i,     // take the seed
    input  wire [          5:0] latency_i,    // of reads in clocks, 1 or more
    input  wire [          7:0] stall_gnt_i,  // stalls in 256 clocks
    input  wire                 par_req_i,
    output reg                  par_gnt_o,
    input  wire [          2:0] par_space_i,
    input  wire [AddrWidth-1:0] par_addr_i,
    output reg                  par_rvalid_o,
    output reg  [DataWidth-1:0] par_rdata_o,
    output reg                  par_err_o,
    input  wire                 flag_req_i,
    output reg                  flag_gnt_o,
    input  wire                 flag_clear_i,  // clear the flags of the mask
    input  wire [          3:0] flag_addr_i,   // flags 32 * addr to 32 * addr + 31
    input  wire [         31:0] flag_mask_i,
    output reg                  flag_rvalid_o,
    output reg  [         31:0] flag_rdata_o
);
  `include "pto_door.vh"
  `include "pto_random.vh"

  localparam Bytes = DataWidth / 8;

  wire stalls = stall_gnt_i != 8'd0;

  // --- parameters ---

  reg [DataWidth-1:0] par_data[0:63];  // words read on the edge of their grant, and due later
  reg par_error[0:63];
  reg [31:0] par_due[0:63];
  reg [5:0] par_write, par_read;
  reg [`PTO_DOOR_BITS(DataWidth)-1:0] word;
  integer failed;
  reg [31:0] par_random;

  initial begin
    par_gnt_o = 1'b0;
    par_rvalid_o = 1'b0;
    par_err_o = 1'b1;
    par_random = 32'd1;
  end

  always @(posedge clk_i) begin
    if (reseed_i) par_random = pto_seed(seed_i, Slot * 8 + 5);
    if (!rst_ni) begin
      par_gnt_o <= 1'b0;
      par_rvalid_o <= 1'b0;
      par_write = 6'd0;
      par_read = 6'd0;
    end else if (par_req_i || par_rvalid_o || par_read != par_write || reseed_i ||
                 (!par_gnt_o && !stalls)) begin
      par_rvalid_o <= 1'b0;
      par_err_o <= 1'b1;  // means nothing without rvalid: nobody may look
      if (par_req_i && par_gnt_o) begin
        failed = `PTO_LOCAL_READ(Slot, 1, par_space_i, par_addr_i, Bytes, word);
        par_data[par_write] = word[DataWidth-1:0];
        par_error[par_write] = failed[0];
        par_due[par_write] = cycle_i + {26'd0, latency_i} - 32'd1;
        par_write = par_write + 6'd1;
      end
      if (par_read != par_write && $signed(cycle_i - par_due[par_read]) >= 0) begin
        par_rdata_o <= par_data[par_read];
        par_err_o <= par_error[par_read];
        par_rvalid_o <= 1'b1;
        par_read = par_read + 6'd1;
      end
      if (stalls) par_random = pto_next(par_random);
      par_gnt_o <= !stalls || par_random[7:0] >= stall_gnt_i;
    end
  end

  // --- unit flags ---

  reg [31:0] flag_data[0:63];
  reg [31:0] flag_due[0:63];
  reg [5:0] flag_write, flag_read;
  reg [31:0] flag_random;

  initial begin
    flag_gnt_o = 1'b0;
    flag_rvalid_o = 1'b0;
    flag_rdata_o = 32'hffff_ffff;
    flag_random = 32'd1;
  end

  always @(posedge clk_i) begin
    if (reseed_i) flag_random = pto_seed(seed_i, Slot * 8 + 6);
    if (!rst_ni) begin
      flag_gnt_o <= 1'b0;
      flag_rvalid_o <= 1'b0;
      flag_write = 6'd0;
      flag_read = 6'd0;
    end else if (flag_req_i || flag_rvalid_o || flag_read != flag_write || reseed_i ||
                 (!flag_gnt_o && !stalls)) begin
      flag_rvalid_o <= 1'b0;
      flag_rdata_o <= 32'hffff_ffff;  // means nothing without rvalid
      if (flag_req_i && flag_gnt_o) begin
        if (flag_clear_i) begin
          `PTO_FLAG_CLEAR(Slot, flag_addr_i, flag_mask_i);
        end else begin
          flag_data[flag_write] = `PTO_FLAG_READ(flag_addr_i);
          flag_due[flag_write] = cycle_i + {26'd0, latency_i} - 32'd1;
          flag_write = flag_write + 6'd1;
        end
      end
      if (flag_read != flag_write && $signed(cycle_i - flag_due[flag_read]) >= 0) begin
        flag_rdata_o <= flag_data[flag_read];
        flag_rvalid_o <= 1'b1;
        flag_read = flag_read + 6'd1;
      end
      if (stalls) flag_random = pto_next(flag_random);
      flag_gnt_o <= !stalls || flag_random[7:0] >= stall_gnt_i;
    end
  end
endmodule

`default_nettype wire

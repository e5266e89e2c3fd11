// SPDX-License-Identifier: Apache-2.0
// Ports `par` and `flag` of slot fix: reads of FB parameters, and reads and clears of the unit
// flags of L0C (spec/fixpipe.md section 8). Both take a request a clock; reads are
// pipelined, `latency_i` clocks from grant to rvalid and up to `jitter_i` more, in order; grants
// stall at random, each port independently; those of `after_valid_i` are low until the request was
// seen, and again after it. A flag read returns the flags at its grant; a clear
// takes effect at its grant and has no response. An idle port is not evaluated: its grant stays.
//   clk_i        _/-\_/-\_/-\_/-\_/-\_
//   flag_req_i   ___/-----------\_____    latency 2; flag 1 of the word is set at the second edge
//   flag_clear_i ___________/---\_____
//   flag_rvalid  ___________/-------\_
//   flag_rdata   -----------< 0 >< 2 >
// An address outside of the memory or an injected fault answers `par_err_o` with rvalid.
// Simulation only.
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
    input  wire [          9:0] latency_i,    // of reads in clocks, 1 or more
    input  wire [          7:0] jitter_i,     // most extra clocks of a read
    input  wire [          7:0] stall_gnt_i,  // stalls in 256 clocks
    input  wire [          1:0] after_valid_i,  // grants wait for requests: par, flag
    output reg  [         10:0] par_write_o,  // queues of the words read
    output reg  [         10:0] par_read_o,
    output reg  [         10:0] flag_write_o,
    output reg  [         10:0] flag_read_o,
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
  `include "pto_backend.vh"
  `include "pto_random.vh"

  localparam Bytes = DataWidth / 8;

  wire stalls = stall_gnt_i != 8'd0;

  // --- parameters ---

  reg [DataWidth-1:0] par_data[0:2047];  // as in pto_local_port.v
  reg par_error[0:2047];
  reg [31:0] par_due[0:2047];
  reg [31:0] par_clocks, par_jitter;
  reg [`PTO_BACKEND_BITS(DataWidth)-1:0] word;
  integer failed;
  reg [31:0] par_random;

  initial begin
    par_gnt_o = 1'b0;
    par_rvalid_o = 1'b0;
    par_err_o = 1'b1;
    par_random = 32'd1;
    par_jitter = 32'd1;
    par_write_o = 11'd0;
    par_read_o = 11'd0;
  end

  always @(posedge clk_i) begin
    if (reseed_i) begin
      par_random = pto_seed(seed_i, Slot * 8 + 5);
      par_jitter = pto_seed(seed_i, Slot * 8 + 69);
    end
    if (!rst_ni) begin
      par_gnt_o <= 1'b0;
      par_rvalid_o <= 1'b0;
      par_write_o = 11'd0;
      par_read_o = 11'd0;
    end else if (par_req_i || par_rvalid_o || par_read_o != par_write_o || reseed_i ||
                 (!par_gnt_o && !stalls && !after_valid_i[0])) begin
      if (par_rvalid_o && par_err_o) `PTO_HIT(Slot, 1);
      par_rvalid_o <= 1'b0;
      par_err_o <= 1'b1;  // ignored without rvalid
      if (par_req_i && par_gnt_o) begin
        failed = `PTO_LOCAL_READ(Slot, 1, par_space_i, par_addr_i, Bytes, word);
        par_clocks = {22'd0, latency_i};
        if (jitter_i != 8'd0) begin
          par_jitter = pto_next(par_jitter);
          par_clocks = par_clocks + pto_uniform(par_jitter, jitter_i);
        end
        if (par_read_o == par_write_o) begin
          par_read_o = 11'd0;
          par_write_o = 11'd0;
        end
        par_data[par_write_o] = word[DataWidth-1:0];
        par_error[par_write_o] = failed[0];
        par_due[par_write_o] = cycle_i + par_clocks - 32'd1;
        par_write_o = par_write_o + 11'd1;
      end
      if (par_read_o != par_write_o && $signed(cycle_i - par_due[par_read_o]) >= 0) begin
        par_rdata_o <= par_data[par_read_o];
        par_err_o <= par_error[par_read_o];
        par_rvalid_o <= 1'b1;
        par_read_o = par_read_o + 11'd1;
      end
      if (stalls) par_random = pto_next(par_random);
      par_gnt_o <= (!after_valid_i[0] || (par_req_i && !par_gnt_o)) &&
          (!stalls || par_random[7:0] >= stall_gnt_i);
    end
  end

  // --- unit flags ---

  reg [31:0] flag_data[0:2047];
  reg [31:0] flag_due[0:2047];
  reg [31:0] flag_random, flag_clocks, flag_jitter;

  initial begin
    flag_gnt_o = 1'b0;
    flag_rvalid_o = 1'b0;
    flag_rdata_o = 32'hffff_ffff;
    flag_random = 32'd1;
    flag_jitter = 32'd1;
    flag_write_o = 11'd0;
    flag_read_o = 11'd0;
  end

  always @(posedge clk_i) begin
    if (reseed_i) begin
      flag_random = pto_seed(seed_i, Slot * 8 + 6);
      flag_jitter = pto_seed(seed_i, Slot * 8 + 70);
    end
    if (!rst_ni) begin
      flag_gnt_o <= 1'b0;
      flag_rvalid_o <= 1'b0;
      flag_write_o = 11'd0;
      flag_read_o = 11'd0;
    end else if (flag_req_i || flag_rvalid_o || flag_read_o != flag_write_o || reseed_i ||
                 (!flag_gnt_o && !stalls && !after_valid_i[1])) begin
      flag_rvalid_o <= 1'b0;
      flag_rdata_o <= 32'hffff_ffff;  // ignored without rvalid
      if (flag_req_i && flag_gnt_o) begin
        if (flag_clear_i) begin
          `PTO_FLAG_CLEAR(Slot, flag_addr_i, flag_mask_i);
        end else begin
          flag_clocks = {22'd0, latency_i};
          if (jitter_i != 8'd0) begin
            flag_jitter = pto_next(flag_jitter);
            flag_clocks = flag_clocks + pto_uniform(flag_jitter, jitter_i);
          end
          if (flag_read_o == flag_write_o) begin
            flag_read_o = 11'd0;
            flag_write_o = 11'd0;
          end
          flag_data[flag_write_o] = `PTO_FLAG_READ(Slot, flag_addr_i, flag_mask_i);
          flag_due[flag_write_o] = cycle_i + flag_clocks - 32'd1;
          flag_write_o = flag_write_o + 11'd1;
        end
      end
      if (flag_read_o != flag_write_o && $signed(cycle_i - flag_due[flag_read_o]) >= 0) begin
        flag_rdata_o <= flag_data[flag_read_o];
        flag_rvalid_o <= 1'b1;
        flag_read_o = flag_read_o + 11'd1;
      end
      if (stalls) flag_random = pto_next(flag_random);
      flag_gnt_o <= (!after_valid_i[1] || (flag_req_i && !flag_gnt_o)) &&
          (!stalls || flag_random[7:0] >= stall_gnt_i);
    end
  end
endmodule

`default_nettype wire

// SPDX-License-Identifier: Apache-2.0
// Ports `par` and `flag` of slot fix: reads of FB parameters, and reads and clears of the unit
// flags of L0C (docs/spec/fixpipe.md section 8). Both take a request a clock; reads are pipelined,
// `local_read_latency` clocks from grant to rvalid and up to `local_read_jitter` more, in order;
// grants stall at random, each port independently; those of `after_valid_i` are low until the
// request was seen, and again after it. A flag read returns the flags at its grant; a clear takes
// effect at its grant and has no response. An idle port is not evaluated: its grant stays.
//   clk_i        _/-\_/-\_/-\_/-\_/-\_
//   flag_req     ___/-----------\_____    latency 2; flag 1 of the word is set at the second edge
//   flag_clear   ___________/---\_____
//   flag_rvalid  ___________/-------\_
//   flag_rdata   -----------< 0 >< 2 >
// An address outside of the memory or an injected fault answers `par_err` with rvalid.
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
    input  wire [         31:0] cycle,               // clocks so far
    input  wire [         31:0] seed,                // of the random stalls
    input  wire                 reseed,              // take the seed
    input  wire [          9:0] local_read_latency,  // of reads in clocks, 1 or more
    input  wire [          7:0] local_read_jitter,   // most extra clocks of a read
    input  wire [          7:0] stall_src_gnt,       // stalls in 256 clocks
    input  wire [          1:0] after_valid_i,       // grants wait for requests: par, flag
    output reg  [         10:0] par_write,           // queues of the words read
    output reg  [         10:0] par_read,
    output reg  [         10:0] flag_write,
    output reg  [         10:0] flag_read,
    input  wire                 par_req,
    output reg                  par_gnt,
    input  wire [          2:0] par_space,
    input  wire [AddrWidth-1:0] par_addr,
    output reg                  par_rvalid,
    output reg  [DataWidth-1:0] par_rdata,
    output reg                  par_err,
    input  wire                 flag_req,
    output reg                  flag_gnt,
    input  wire                 flag_clear,  // clear the flags of the mask
    input  wire [          3:0] flag_addr,   // flags 32 * addr to 32 * addr + 31
    input  wire [         31:0] flag_mask,
    output reg                  flag_rvalid,
    output reg  [         31:0] flag_rdata
);
  `include "pto_backend.vh"
  `include "pto_random.vh"

  localparam Bytes = DataWidth / 8;

  wire stalls = stall_src_gnt != 8'd0;

  // --- parameters ---

  reg [DataWidth-1:0] par_data[0:2047];  // as in pto_local_port.v
  reg par_error[0:2047];
  reg [31:0] par_due[0:2047];
  reg [31:0] par_clocks, par_jitter;
  reg [`PTO_BACKEND_BITS(DataWidth)-1:0] word;
  integer failed;
  reg [31:0] par_random;

  initial begin
    par_gnt = 1'b0;
    par_rvalid = 1'b0;
    par_err = 1'b1;
    par_random = 32'd1;
    par_jitter = 32'd1;
    par_write = 11'd0;
    par_read = 11'd0;
  end

  always @(posedge clk_i) begin
    if (reseed) begin
      par_random = pto_seed(seed, Slot * 8 + 5);
      par_jitter = pto_seed(seed, Slot * 8 + 69);
    end
    if (!rst_ni) begin
      par_gnt <= 1'b0;
      par_rvalid <= 1'b0;
      par_write = 11'd0;
      par_read = 11'd0;
    end else if (par_req || par_rvalid || par_read != par_write || reseed ||
                 (!par_gnt && !stalls && !after_valid_i[0])) begin
      if (par_rvalid && par_err) `PTO(hit)(Slot, 1);
      par_rvalid <= 1'b0;
      par_err <= 1'b1;  // ignored without rvalid
      if (par_req && par_gnt) begin
        failed = `PTO(local_read)(Slot, 1, par_space, par_addr, Bytes, word);
        par_clocks = {22'd0, local_read_latency};
        if (local_read_jitter != 8'd0) begin
          par_jitter = pto_next(par_jitter);
          par_clocks = par_clocks + pto_uniform(par_jitter, local_read_jitter);
        end
        if (par_read == par_write) begin
          par_read = 11'd0;
          par_write = 11'd0;
        end
        par_data[par_write] = word[DataWidth-1:0];
        par_error[par_write] = failed[0];
        par_due[par_write] = cycle + par_clocks - 32'd1;
        par_write = par_write + 11'd1;
      end
      if (par_read != par_write && $signed(cycle - par_due[par_read]) >= 0) begin
        par_rdata <= par_data[par_read];
        par_err <= par_error[par_read];
        par_rvalid <= 1'b1;
        par_read = par_read + 11'd1;
      end
      if (stalls) par_random = pto_next(par_random);
      par_gnt <= (!after_valid_i[0] || (par_req && !par_gnt)) &&
          (!stalls || par_random[7:0] >= stall_src_gnt);
    end
  end

  // --- unit flags ---

  reg [31:0] flag_data[0:2047];
  reg [31:0] flag_due[0:2047];
  reg [31:0] flag_random, flag_clocks, flag_jitter;

  initial begin
    flag_gnt = 1'b0;
    flag_rvalid = 1'b0;
    flag_rdata = 32'hffff_ffff;
    flag_random = 32'd1;
    flag_jitter = 32'd1;
    flag_write = 11'd0;
    flag_read = 11'd0;
  end

  always @(posedge clk_i) begin
    if (reseed) begin
      flag_random = pto_seed(seed, Slot * 8 + 6);
      flag_jitter = pto_seed(seed, Slot * 8 + 70);
    end
    if (!rst_ni) begin
      flag_gnt <= 1'b0;
      flag_rvalid <= 1'b0;
      flag_write = 11'd0;
      flag_read = 11'd0;
    end else if (flag_req || flag_rvalid || flag_read != flag_write || reseed ||
                 (!flag_gnt && !stalls && !after_valid_i[1])) begin
      flag_rvalid <= 1'b0;
      flag_rdata <= 32'hffff_ffff;  // ignored without rvalid
      if (flag_req && flag_gnt) begin
        if (flag_clear) begin
          `PTO(flag_clear)(Slot, flag_addr, flag_mask);
        end else begin
          flag_clocks = {22'd0, local_read_latency};
          if (local_read_jitter != 8'd0) begin
            flag_jitter = pto_next(flag_jitter);
            flag_clocks = flag_clocks + pto_uniform(flag_jitter, local_read_jitter);
          end
          if (flag_read == flag_write) begin
            flag_read = 11'd0;
            flag_write = 11'd0;
          end
          flag_data[flag_write] = `PTO(flag_read)(Slot, flag_addr, flag_mask);
          flag_due[flag_write] = cycle + flag_clocks - 32'd1;
          flag_write = flag_write + 11'd1;
        end
      end
      if (flag_read != flag_write && $signed(cycle - flag_due[flag_read]) >= 0) begin
        flag_rdata <= flag_data[flag_read];
        flag_rvalid <= 1'b1;
        flag_read = flag_read + 11'd1;
      end
      if (stalls) flag_random = pto_next(flag_random);
      flag_gnt <= (!after_valid_i[1] || (flag_req && !flag_gnt)) &&
          (!stalls || flag_random[7:0] >= stall_src_gnt);
    end
  end
endmodule

`default_nettype wire

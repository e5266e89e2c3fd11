// SPDX-License-Identifier: Apache-2.0
// Read and write port of one slot on the on-chip memories. Both take a word a clock. Reads are
// pipelined, `local_read_latency` clocks from grant to `src_rvalid`, and up to `local_read_jitter`
// more, in order; grants stall at random and do not depend on requests, unless `after_valid_i`:
// then a grant is low until its request was seen, and again after it.
//   clk_i       _/-\_/-\_/-\_/-\_/-\_
//   src_req     ___/-------\_________    latency 2, the grant stalls one clock
//   src_gnt     -------\___/---------
//   src_rvalid  _______________/---\_
// An address outside of the memory or an injected fault answers `src_err` with rvalid, or
// `dst_err` with the grant. The C side decides about faults, also of a write before its edge:
// `fault_clock` toggles when the decision may change. Simulation only.
`default_nettype none
`timescale 1ns / 1ps

module pto_local_port #(
    parameter Slot = 0,            // number of the slot in the mailbox
    parameter AddrWidth = 20,      // bits of a byte address
    parameter SrcDataWidth = 256,  // bits of data that are read: 128, 256 or 512
    parameter DstDataWidth = 256   // bits of data that are written, as above
) (
    input  wire                      clk_i,
    input  wire                      rst_ni,
    input  wire [              31:0] cycle,               // clocks so far
    input  wire [              31:0] seed,                // of the random stalls
    input  wire                      reseed,              // take the seed
    input  wire [               9:0] local_read_latency,  // of reads in clocks, 1 or more
    input  wire [               7:0] local_read_jitter,   // most extra clocks of a read
    input  wire                      faults_i,            // injected faults may fail writes
    input  wire                      fault_clock,
    input  wire [               7:0] stall_src_gnt,  // stalls in 256 clocks
    input  wire [               7:0] stall_dst_gnt,
    input  wire [               1:0] after_valid_i,  // grants wait for requests: src, dst
    output reg  [              10:0] src_write,      // queue of the words read
    output reg  [              10:0] src_read,
    input  wire                      src_req,
    output reg                       src_gnt,
    input  wire [               2:0] src_space,
    input  wire [     AddrWidth-1:0] src_addr,
    output reg                       src_rvalid,
    output reg  [  SrcDataWidth-1:0] src_rdata,
    output reg                       src_err,
    input  wire                      dst_req,
    output reg                       dst_gnt,
    input  wire [               2:0] dst_space,
    input  wire [     AddrWidth-1:0] dst_addr,
    input  wire [DstDataWidth/8-1:0] dst_be,
    input  wire [  DstDataWidth-1:0] dst_wdata,
    output reg                       dst_err
);
  `include "pto_backend.vh"
  `include "pto_random.vh"

  localparam SrcBytes = SrcDataWidth / 8;
  localparam DstBytes = DstDataWidth / 8;

  // Words read on the edge of their grant, and due later: as many as the longest latency and jitter
  // keep in flight. Unused entries are not accessed, and an empty queue restarts at 0.
  reg [SrcDataWidth-1:0] data[0:2047];
  reg error[0:2047];
  reg [31:0] due[0:2047];
  reg [31:0] clocks;  // from grant to rvalid
  reg [`PTO_BACKEND_BITS(SrcDataWidth)-1:0] word;
  integer failed;
  reg [31:0] random, jitter_random;

  wire stalls = |{stall_src_gnt, stall_dst_gnt};

  initial begin
    src_gnt = 1'b0;
    src_rvalid = 1'b0;
    src_err = 1'b1;
    dst_gnt = 1'b0;
    random = 32'd1;
    jitter_random = 32'd1;
    src_write = 11'd0;
    src_read = 11'd0;
  end

  always @(posedge clk_i) begin
    if (reseed) begin
      random = pto_seed(seed, Slot * 8 + 4);
      jitter_random = pto_seed(seed, Slot * 8 + 68);
    end
    if (!rst_ni) begin
      src_gnt <= 1'b0;
      dst_gnt <= 1'b0;
      src_rvalid <= 1'b0;
      src_write = 11'd0;
      src_read = 11'd0;
    end else if (src_req || dst_req || src_rvalid || src_read != src_write || stalls ||
                 src_gnt == after_valid_i[0] || dst_gnt == after_valid_i[1]) begin
      if (stalls) random = pto_next(random);
      if (src_rvalid && src_err) `PTO(hit)(Slot, 0);
      src_rvalid <= 1'b0;
      src_err <= 1'b1;  // ignored without rvalid
      if (src_req && src_gnt) begin
        failed = `PTO(local_read)(Slot, 0, src_space, src_addr, SrcBytes, word);
        clocks = {22'd0, local_read_latency};
        if (local_read_jitter != 8'd0) begin
          jitter_random = pto_next(jitter_random);
          clocks = clocks + pto_uniform(jitter_random, local_read_jitter);
        end
        if (clocks == 32'd1 && src_read == src_write) begin
          src_rdata <= word[SrcDataWidth-1:0];
          src_err <= failed[0];
          src_rvalid <= 1'b1;
        end else begin
          if (src_read == src_write) begin
            src_read = 11'd0;
            src_write = 11'd0;
          end
          data[src_write] = word[SrcDataWidth-1:0];
          error[src_write] = failed[0];
          due[src_write] = cycle + clocks - 32'd1;
          src_write = src_write + 11'd1;
        end
      end
      if (src_read != src_write && $signed(cycle - due[src_read]) >= 0) begin
        src_rdata <= data[src_read];
        src_err <= error[src_read];
        src_rvalid <= 1'b1;
        src_read = src_read + 11'd1;
      end
      src_gnt <= (!after_valid_i[0] || (src_req && !src_gnt)) &&
          (stall_src_gnt == 8'd0 || random[7:0] >= stall_src_gnt);

      if (dst_req && dst_gnt) begin
        failed = `PTO(local_write)(Slot, dst_space, dst_addr, DstBytes, dst_be, dst_wdata);
        if (faults_i && failed[0] != dst_err)
          `PTO_ERROR(Slot, "harness: dst_err is not what the write does (space, address)",
                     dst_space, dst_addr);
      end
      dst_gnt <= (!after_valid_i[1] || (dst_req && !dst_gnt)) &&
          (stall_dst_gnt == 8'd0 || random[15:8] >= stall_dst_gnt);
    end
  end

  // The error comes with the grant, so it cannot wait for the backend.
  function outside(input [2:0] space, input [19:0] addr);
    case (space)
      3'd1, 3'd2, 3'd4: outside = |addr[19:18];  // UB0, UB1, L0C: 2^18 bytes
      3'd3: outside = addr[19];                  // L1: 2^19 bytes
      3'd5: outside = |addr[19:12];              // BT: 2^12 bytes
      3'd6: outside = |addr[19:17] || |addr[15:12];  // FB: 2^12 bytes from 0 and from 2^16 on
      3'd7:  // L0: 2^16 bytes from 0 and from 2^17 on, 2^12 from 2*2^17 and from 3*2^17 on
      outside = addr[19] || addr[16] || (addr[18] && |addr[15:12]);
      default: outside = 1'b1;
    endcase
  endfunction

  always @* begin
    dst_err = 1'b1;  // ignored without a grant
    if (dst_req && dst_gnt) begin
      dst_err = outside(dst_space, dst_addr);
      if (faults_i) begin
        if (`PTO(local_fault)(Slot, fault_clock, dst_space, dst_addr, DstBytes) != 0)
          dst_err = 1'b1;
      end
    end
  end
endmodule

`default_nettype wire

// SPDX-License-Identifier: Apache-2.0
// Read and write port of one slot on the on-chip memories. Both take a word a clock. Reads are
// pipelined, `latency_i` clocks from grant to `src_rvalid_o`, and up to `jitter_i` more, in order;
// grants stall at random and do not depend on requests, unless `after_valid_i`: then a grant is low
// until its request was seen, and again after it.
//   clk_i       _/-\_/-\_/-\_/-\_/-\_
//   src_req_i   ___/-------\_________    latency 2, the grant stalls one clock
//   src_gnt_o   -------\___/---------
//   src_rvalid  _______________/---\_
// An address outside of the memory or an injected fault answers `src_err_o` with rvalid, or
// `dst_err_o` with the grant. The C side decides about faults, also of a write before its edge:
// `fault_clock_i` toggles when the decision may change. Simulation only.
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
    input  wire [              31:0] cycle_i,          // clocks so far
    input  wire [              31:0] seed_i,           // of the random stalls
    input  wire                      reseed_i,         // take the seed
    input  wire [               9:0] latency_i,        // of reads in clocks, 1 or more
    input  wire [               7:0] jitter_i,         // most extra clocks of a read
    input  wire                      faults_i,         // injected faults may fail writes
    input  wire                      fault_clock_i,
    input  wire [               7:0] stall_src_gnt_i,  // stalls in 256 clocks
    input  wire [               7:0] stall_dst_gnt_i,
    input  wire [               1:0] after_valid_i,    // grants wait for requests: src, dst
    output reg  [              10:0] src_write_o,      // queue of the words read
    output reg  [              10:0] src_read_o,
    input  wire                      src_req_i,
    output reg                       src_gnt_o,
    input  wire [               2:0] src_space_i,
    input  wire [     AddrWidth-1:0] src_addr_i,
    output reg                       src_rvalid_o,
    output reg  [  SrcDataWidth-1:0] src_rdata_o,
    output reg                       src_err_o,
    input  wire                      dst_req_i,
    output reg                       dst_gnt_o,
    input  wire [               2:0] dst_space_i,
    input  wire [     AddrWidth-1:0] dst_addr_i,
    input  wire [DstDataWidth/8-1:0] dst_be_i,
    input  wire [  DstDataWidth-1:0] dst_wdata_i,
    output reg                       dst_err_o
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

  wire stalls = |{stall_src_gnt_i, stall_dst_gnt_i};

  initial begin
    src_gnt_o = 1'b0;
    src_rvalid_o = 1'b0;
    src_err_o = 1'b1;
    dst_gnt_o = 1'b0;
    random = 32'd1;
    jitter_random = 32'd1;
    src_write_o = 11'd0;
    src_read_o = 11'd0;
  end

  always @(posedge clk_i) begin
    if (reseed_i) begin
      random = pto_seed(seed_i, Slot * 8 + 4);
      jitter_random = pto_seed(seed_i, Slot * 8 + 68);
    end
    if (!rst_ni) begin
      src_gnt_o <= 1'b0;
      dst_gnt_o <= 1'b0;
      src_rvalid_o <= 1'b0;
      src_write_o = 11'd0;
      src_read_o = 11'd0;
    end else if (src_req_i || dst_req_i || src_rvalid_o || src_read_o != src_write_o || stalls ||
                 src_gnt_o == after_valid_i[0] || dst_gnt_o == after_valid_i[1]) begin
      if (stalls) random = pto_next(random);
      if (src_rvalid_o && src_err_o) `PTO_HIT(Slot, 0);
      src_rvalid_o <= 1'b0;
      src_err_o <= 1'b1;  // ignored without rvalid
      if (src_req_i && src_gnt_o) begin
        failed = `PTO_LOCAL_READ(Slot, 0, src_space_i, src_addr_i, SrcBytes, word);
        clocks = {22'd0, latency_i};
        if (jitter_i != 8'd0) begin
          jitter_random = pto_next(jitter_random);
          clocks = clocks + pto_uniform(jitter_random, jitter_i);
        end
        if (clocks == 32'd1 && src_read_o == src_write_o) begin
          src_rdata_o <= word[SrcDataWidth-1:0];
          src_err_o <= failed[0];
          src_rvalid_o <= 1'b1;
        end else begin
          if (src_read_o == src_write_o) begin
            src_read_o = 11'd0;
            src_write_o = 11'd0;
          end
          data[src_write_o] = word[SrcDataWidth-1:0];
          error[src_write_o] = failed[0];
          due[src_write_o] = cycle_i + clocks - 32'd1;
          src_write_o = src_write_o + 11'd1;
        end
      end
      if (src_read_o != src_write_o && $signed(cycle_i - due[src_read_o]) >= 0) begin
        src_rdata_o <= data[src_read_o];
        src_err_o <= error[src_read_o];
        src_rvalid_o <= 1'b1;
        src_read_o = src_read_o + 11'd1;
      end
      src_gnt_o <= (!after_valid_i[0] || (src_req_i && !src_gnt_o)) &&
          (stall_src_gnt_i == 8'd0 || random[7:0] >= stall_src_gnt_i);

      if (dst_req_i && dst_gnt_o) begin
        failed = `PTO_LOCAL_WRITE(Slot, dst_space_i, dst_addr_i, DstBytes, dst_be_i, dst_wdata_i);
        if (faults_i && failed[0] != dst_err_o)
          `PTO_ERROR(Slot, "harness: dst_err is not what the write does (space, address)",
                     dst_space_i, dst_addr_i);
      end
      dst_gnt_o <= (!after_valid_i[1] || (dst_req_i && !dst_gnt_o)) &&
          (stall_dst_gnt_i == 8'd0 || random[15:8] >= stall_dst_gnt_i);
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
    dst_err_o = 1'b1;  // ignored without a grant
    if (dst_req_i && dst_gnt_o) begin
      dst_err_o = outside(dst_space_i, dst_addr_i);
      if (faults_i) begin
        if (`PTO_LOCAL_FAULT(Slot, fault_clock_i, dst_space_i, dst_addr_i, DstBytes) != 0)
          dst_err_o = 1'b1;
      end
    end
  end
endmodule

`default_nettype wire

// SPDX-License-Identifier: Apache-2.0
// Read and write port of one slot on the on-chip memories. Both take a word a clock. Reads are
// pipelined, `latency_i` clocks from grant to `src_rvalid_o`; grants stall at random and do not
// depend on requests.
//   clk_i       _/-\_/-\_/-\_/-\_/-\_
//   src_req_i   ___/-------\_________    latency 2, the grant stalls one clock
//   src_gnt_o   -------\___/---------
//   src_rvalid  _______________/---\_
// An address outside of the memory or an injected fault answers `src_err_o` with rvalid, or
// `dst_err_o` with the grant. Limits: 63 reads in flight. Simulation only.
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
    input  wire                      reseed_i,         // take seed and faults
    input  wire [               5:0] latency_i,        // of reads in clocks, 1 or more
    input  wire [               7:0] stall_src_gnt_i,  // stalls in 256 clocks
    input  wire [               7:0] stall_dst_gnt_i,
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
  `include "pto_door.vh"
  `include "pto_random.vh"

  localparam SrcBytes = SrcDataWidth / 8;
  localparam DstBytes = DstDataWidth / 8;

  reg [SrcDataWidth-1:0] data[0:63];  // words read on the edge of their grant, and due later
  reg error[0:63];
  reg [31:0] due[0:63];
  reg [5:0] write, read;
  reg [`PTO_DOOR_BITS(SrcDataWidth)-1:0] word;
  integer failed;
  reg [31:0] random;
  reg [22:0] fault_q[0:3];  // space and first address of a faulty granule, space 0 for none
  reg faults_q;             // there is one
  integer index, granule, any;

  wire stalls = |{stall_src_gnt_i, stall_dst_gnt_i};

  initial begin
    src_gnt_o = 1'b0;
    src_rvalid_o = 1'b0;
    src_err_o = 1'b1;
    dst_gnt_o = 1'b0;
    random = 32'd1;
    faults_q = 1'b0;
  end

  always @(posedge clk_i) begin
    if (reseed_i) begin
      random = pto_seed(seed_i, Slot * 8 + 4);
      any = 0;
      for (index = 0; index < 4; index = index + 1) begin
        granule = `PTO_LOCAL_FAULT(index);
        fault_q[index] <= granule[22:0];
        any = any | granule;
      end
      faults_q <= any != 0;
    end
    if (!rst_ni) begin
      src_gnt_o <= 1'b0;
      dst_gnt_o <= 1'b0;
      src_rvalid_o <= 1'b0;
      write = 6'd0;
      read = 6'd0;
    end else if (src_req_i || dst_req_i || src_rvalid_o || read != write || stalls || !src_gnt_o ||
                 !dst_gnt_o) begin
      if (stalls) random = pto_next(random);
      src_rvalid_o <= 1'b0;
      src_err_o <= 1'b1;  // means nothing without rvalid: nobody may look
      if (src_req_i && src_gnt_o) begin
        failed = `PTO_LOCAL_READ(Slot, 0, src_space_i, src_addr_i, SrcBytes, word);
        if (latency_i == 6'd1 && read == write) begin
          src_rdata_o <= word[SrcDataWidth-1:0];
          src_err_o <= failed[0];
          src_rvalid_o <= 1'b1;
        end else begin
          data[write] = word[SrcDataWidth-1:0];
          error[write] = failed[0];
          due[write] = cycle_i + {26'd0, latency_i} - 32'd1;
          write = write + 6'd1;
        end
      end
      if (read != write && $signed(cycle_i - due[read]) >= 0) begin
        src_rdata_o <= data[read];
        src_err_o <= error[read];
        src_rvalid_o <= 1'b1;
        read = read + 6'd1;
      end
      src_gnt_o <= stall_src_gnt_i == 8'd0 || random[7:0] >= stall_src_gnt_i;

      if (dst_req_i && dst_gnt_o)
        failed = `PTO_LOCAL_WRITE(Slot, dst_space_i, dst_addr_i, DstBytes, dst_be_i, dst_wdata_i);
      dst_gnt_o <= stall_dst_gnt_i == 8'd0 || random[15:8] >= stall_dst_gnt_i;
    end
  end

  // The error goes with the grant, so it cannot wait for the door.
  function outside(input [2:0] space, input [19:0] addr);
    case (space)
      3'd1, 3'd2, 3'd4: outside = |addr[19:18];  // UB0, UB1, L0C: 2^18 bytes
      3'd3: outside = addr[19];                  // L1: 2^19 bytes
      3'd5, 3'd6: outside = |addr[19:12];        // BT, FB: 2^12 bytes
      default: outside = 1'b1;
    endcase
  endfunction

  function covers(input [22:0] entry, input [2:0] space, input [19:0] addr);
    covers = entry[22:20] != 3'd0 && entry[22:20] == space &&
        (DstBytes > 32 ? entry[19:6] == addr[19:6] : entry[19:5] == addr[19:5]);
  endfunction

  always @* begin
    dst_err_o = 1'b1;  // means nothing without a grant: nobody may look
    if (dst_req_i && dst_gnt_o) begin
      dst_err_o = outside(dst_space_i, dst_addr_i);
      if (faults_q)
        dst_err_o = dst_err_o || covers(fault_q[0], dst_space_i, dst_addr_i) ||
            covers(fault_q[1], dst_space_i, dst_addr_i) ||
            covers(fault_q[2], dst_space_i, dst_addr_i) ||
            covers(fault_q[3], dst_space_i, dst_addr_i);
    end
  end
endmodule

`default_nettype wire

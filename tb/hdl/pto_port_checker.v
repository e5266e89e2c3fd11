// SPDX-License-Identifier: Apache-2.0
// Watches the descriptor, done and local ports of one slot and reports what docs/contract.md
// forbids: valid, req or payload that move before their handshake; done without a descriptor, out
// of order, or before the last write is there; traffic or busy without a descriptor, or a
// descriptor without busy; unaligned local addresses, unknown spaces; valid or req in reset; X on
// control. Simulation only.
`default_nettype none
`timescale 1ns / 1ps

module pto_port_checker #(
    parameter Slot = 0,             // number of the slot in the mailbox
    parameter GmAddrWidth = 40,     // bits of a GM address
    parameter LocalAddrWidth = 20,  // bits of a local address
    parameter SrcDataWidth = 256,   // bits of a local word that is read
    parameter DstDataWidth = 256,   // bits of a local word that is written
    parameter DescWidth = 512,      // bits of a descriptor
    parameter TagWidth = 8          // bits of a tag
) (
    input  wire                      clk_i,
    input  wire                      rst_ni,
    output wire                      active_o,         // not idle: the clock must go on
    input  wire                      desc_valid_i,
    input  wire                      desc_ready_i,
    input  wire [     DescWidth-1:0] desc_i,
    input  wire [      TagWidth-1:0] desc_tag_i,
    input  wire                      done_valid_i,
    input  wire                      done_ready_i,
    input  wire [      TagWidth-1:0] done_tag_i,
    input  wire [               2:0] done_status_i,
    input  wire [               7:0] done_rule_i,
    input  wire [   GmAddrWidth-1:0] done_addr_i,
    input  wire                      busy_i,
    input  wire                      src_req_i,
    input  wire                      src_gnt_i,
    input  wire [               2:0] src_space_i,
    input  wire [LocalAddrWidth-1:0] src_addr_i,
    input  wire                      src_rvalid_i,
    input  wire                      dst_req_i,
    input  wire                      dst_gnt_i,
    input  wire [               2:0] dst_space_i,
    input  wire [LocalAddrWidth-1:0] dst_addr_i,
    input  wire [DstDataWidth/8-1:0] dst_be_i,
    input  wire [  DstDataWidth-1:0] dst_wdata_i,
    input  wire                      axi_reads_open_i,  // from pto_axi_checker
    input  wire                      axi_writes_open_i,
    input  wire                      axi_offers_i
);
  `include "pto_door.vh"

  localparam SrcOffsetBits = $clog2(SrcDataWidth / 8);
  localparam DstOffsetBits = $clog2(DstDataWidth / 8);
  localparam DoneBits = TagWidth + 11 + GmAddrWidth;

  // --- descriptors and done records ---

  wire [DoneBits-1:0] done = {done_tag_i, done_status_i, done_rule_i, done_addr_i};
  reg desc_waits;
  reg [DescWidth+TagWidth-1:0] desc_held;
  reg done_waits;
  reg [DoneBits-1:0] done_held;
  reg [TagWidth-1:0] tags[0:255];
  reg [7:0] accepted, retired;  // modulo 256
  reg [6:0] src_owed;           // read data that are still to come
  reg idle_seen;                // busy has had a clock to fall
  reg src_last;                 // the last owed read data come on this edge

  wire quiet = desc_ready_i & ~(desc_valid_i | done_valid_i | busy_i | src_req_i | src_rvalid_i |
      dst_req_i | axi_offers_i);

  // What is X counts as a movement.
  assign active_o = accepted != retired || quiet !== 1'b1 || src_owed != 7'd0 ||
      axi_reads_open_i || axi_writes_open_i;

  initial begin
    accepted = 8'd0;
    retired = 8'd0;
    src_owed = 7'd0;
  end

  always @(posedge clk_i) begin
    if (!rst_ni) begin
      if (done_valid_i) `PTO_ERROR(Slot, "done: valid in reset", 0, 0);
      if (src_req_i) `PTO_ERROR(Slot, "src: req in reset", 0, 0);
      if (dst_req_i) `PTO_ERROR(Slot, "dst: req in reset", 0, 0);
      if (`PTO_IS_X({done_valid_i, src_req_i, dst_req_i}))
        `PTO_ERROR(Slot, "done, src, dst: valid or req is X in reset", 0, 0);
      desc_waits = 1'b0;
      done_waits = 1'b0;
      accepted = 8'd0;
      retired = 8'd0;
      src_owed = 7'd0;
      idle_seen = 1'b0;
    end else if (accepted == retired && quiet === 1'b1 && idle_seen && !desc_waits &&
                 !done_waits) begin
      // Nothing can have happened: most clocks of an idle slot.
    end else begin
      if (`PTO_IS_X({desc_ready_i, done_valid_i, busy_i, src_req_i, dst_req_i}))
        `PTO_ERROR(Slot, "X on ready, valid, busy or req (desc, done, busy; src, dst)",
                   {desc_ready_i, done_valid_i, busy_i}, {src_req_i, dst_req_i});
      if (src_rvalid_i && src_owed == 7'd0)
        `PTO_ERROR(Slot, "src: read data without a grant", 0, 0);
      src_last = src_owed == 7'd1 && src_rvalid_i;
      if (accepted == retired) begin
        if ((src_req_i || dst_req_i || axi_offers_i) && !desc_valid_i)
          `PTO_ERROR(Slot, "bus activity without a descriptor ({src, dst}, axi)",
                     {src_req_i, dst_req_i}, axi_offers_i);
        if (done_valid_i) `PTO_ERROR(Slot, "done: without a descriptor (tag)", done_tag_i, 0);
        if (busy_i && idle_seen && !desc_valid_i)
          `PTO_ERROR(Slot, "busy: high without a descriptor", 0, 0);
        idle_seen = 1'b1;
      end else begin
        idle_seen = 1'b0;
        if (!busy_i) `PTO_ERROR(Slot, "busy: low with a descriptor accepted", 0, 0);
        if (done_valid_i) begin
          if (done_tag_i != tags[retired])
            `PTO_ERROR(Slot, "done: wrong tag or order (tag, expected)", done_tag_i,
                       tags[retired]);
          if (done_status_i == 3'd7 || (done_status_i != 3'd1 && done_rule_i != 8'd0))
            `PTO_ERROR(Slot, "done: status and rule do not fit (status, rule)", done_status_i,
                       done_rule_i);
          if (`PTO_IS_X({done_tag_i, done_status_i, done_rule_i}))
            `PTO_ERROR(Slot, "done: X in the payload", done_tag_i, done_status_i);
          if (accepted - retired == 8'd1) begin
            if (axi_writes_open_i || (dst_req_i && !dst_gnt_i))
              `PTO_ERROR(Slot, "done: before the last write (dst, axi)", dst_req_i,
                         axi_writes_open_i);
            if (axi_reads_open_i || src_req_i || (src_owed != 7'd0 && !src_last))
              `PTO_ERROR(Slot, "done: reads outstanding (src, axi)", src_owed, axi_reads_open_i);
          end
        end
      end
      if (src_rvalid_i && src_owed != 7'd0) src_owed = src_owed - 7'd1;
      if (src_req_i && src_gnt_i) src_owed = src_owed + 7'd1;

      if (desc_waits) begin
        if (!desc_valid_i)
          `PTO_ERROR(Slot, "desc: valid fell before ready", 0, 0);
        else if ({desc_tag_i, desc_i} != desc_held)
          `PTO_ERROR(Slot, "desc: payload changed before ready (tag)", desc_tag_i, 0);
      end else if (desc_valid_i && !desc_ready_i) begin
        desc_held = {desc_tag_i, desc_i};
      end
      desc_waits = desc_valid_i && !desc_ready_i;
      if (done_waits) begin
        if (!done_valid_i)
          `PTO_ERROR(Slot, "done: valid fell before ready", 0, 0);
        else if (done != done_held)
          `PTO_ERROR(Slot, "done: payload changed before ready (tag, status)", done_tag_i,
                     done_status_i);
      end
      done_waits = done_valid_i && !done_ready_i;
      if (done_waits) done_held = done;

      if (done_valid_i && done_ready_i && accepted != retired) retired = retired + 8'd1;
      if (desc_valid_i && desc_ready_i) begin
        tags[accepted] = desc_tag_i;
        accepted = accepted + 8'd1;
      end
    end
  end

  // --- local ports ---

  function bad_space(input [2:0] space);
    bad_space = space == 3'd0 || space == 3'd7;
  endfunction

  reg src_waits, dst_waits;
  reg [LocalAddrWidth+2:0] src_held, dst_held;
  reg [DstDataWidth/8-1:0] dst_held_be;
  reg [DstDataWidth-1:0] dst_held_wdata;

  always @(posedge clk_i) begin
    if (!rst_ni) begin
      src_waits = 1'b0;
      dst_waits = 1'b0;
    end else if (src_req_i !== 1'b0 || dst_req_i !== 1'b0 || src_waits || dst_waits) begin
      if (src_waits) begin
        if (!src_req_i)
          `PTO_ERROR(Slot, "src: req fell before gnt", 0, 0);
        else if ({src_space_i, src_addr_i} != src_held)
          `PTO_ERROR(Slot, "src: payload changed before gnt (space, address)", src_space_i,
                     src_addr_i);
      end
      src_waits = src_req_i && !src_gnt_i;
      if (src_req_i) begin
        src_held = {src_space_i, src_addr_i};
        if (src_gnt_i) begin
          if (src_addr_i[SrcOffsetBits-1:0] != 0)
            `PTO_ERROR(Slot, "src: address is not word aligned (space, address)", src_space_i,
                       src_addr_i);
          if (bad_space(src_space_i))
            `PTO_ERROR(Slot, "src: no such on-chip memory (space, address)", src_space_i,
                       src_addr_i);
        end
      end
      if (dst_waits) begin
        if (!dst_req_i)
          `PTO_ERROR(Slot, "dst: req fell before gnt", 0, 0);
        else if ({dst_space_i, dst_addr_i} != dst_held || dst_be_i != dst_held_be ||
                 dst_wdata_i != dst_held_wdata)
          `PTO_ERROR(Slot, "dst: payload changed before gnt (space, address)", dst_space_i,
                     dst_addr_i);
      end
      dst_waits = dst_req_i && !dst_gnt_i;
      if (dst_waits) begin
        dst_held = {dst_space_i, dst_addr_i};
        dst_held_be = dst_be_i;
        dst_held_wdata = dst_wdata_i;
      end
      if (dst_req_i && dst_gnt_i) begin
        if (dst_addr_i[DstOffsetBits-1:0] != 0)
          `PTO_ERROR(Slot, "dst: address is not word aligned (space, address)", dst_space_i,
                     dst_addr_i);
        if (bad_space(dst_space_i))
          `PTO_ERROR(Slot, "dst: no such on-chip memory (space, address)", dst_space_i,
                     dst_addr_i);
      end
    end
  end
endmodule

`default_nettype wire

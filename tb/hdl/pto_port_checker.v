// SPDX-License-Identifier: Apache-2.0
// Monitors the descriptor, done and local ports of one slot and reports violations of
// docs/protocol.md; each message begins with the name of the rule. Simulation only.
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
    output wire                      active_o,  // not idle: the clock must go on
    input  wire                      desc_valid,
    input  wire                      desc_ready,
    input  wire [     DescWidth-1:0] desc,
    input  wire [      TagWidth-1:0] desc_tag,
    input  wire                      done_valid,
    input  wire                      done_ready,
    input  wire [      TagWidth-1:0] done_tag,
    input  wire [               2:0] done_status,
    input  wire [               7:0] done_rule,
    input  wire [   GmAddrWidth-1:0] done_addr,
    input  wire                      busy,
    input  wire                      src_req,
    input  wire                      src_gnt,
    input  wire [               2:0] src_space,
    input  wire [LocalAddrWidth-1:0] src_addr,
    input  wire                      src_rvalid,
    input  wire                      dst_req,
    input  wire                      dst_gnt,
    input  wire [               2:0] dst_space,
    input  wire [LocalAddrWidth-1:0] dst_addr,
    input  wire [DstDataWidth/8-1:0] dst_be,
    input  wire [  DstDataWidth-1:0] dst_wdata,
    input  wire                      axi_reads_open,  // from pto_axi_checker
    input  wire                      axi_writes_open,
    input  wire                      axi_offers
);
  `include "pto_backend.vh"

  localparam SrcOffsetBits = $clog2(SrcDataWidth / 8);
  localparam DstOffsetBits = $clog2(DstDataWidth / 8);
  localparam DoneBits = TagWidth + 11 + GmAddrWidth;
  localparam [7:0] History = 8'd16;  // retired tags that count as answered already

  // --- descriptors and done records ---

  wire [DoneBits-1:0] done = {done_tag, done_status, done_rule, done_addr};
  reg desc_waits;
  reg [DescWidth+TagWidth-1:0] desc_held;
  reg done_waits;
  reg [DoneBits-1:0] done_held;
  reg [TagWidth-1:0] tags[0:255];
  reg [7:0] accepted, retired;  // modulo 256
  reg [7:0] history;            // retired since the reset, at most History
  reg [7:0] other;              // a descriptor of another age than the oldest
  reg younger;                  // it has the tag
  reg again;                    // the done that is offered answers one that is retired
  reg [15:0] src_owed;          // outstanding read data
  reg [LocalAddrWidth+2:0] src_words[0:2047];  // space and address of the words owed
  reg [10:0] src_put, src_take;
  reg idle_seen;                // busy has had a clock to fall
  reg src_last;                 // the last owed read data come on this edge
  reg alone;                    // no other descriptor since the newest was accepted
  reg moved;                    // a bus moved since then
  reg offers_done;              // a done is offered, from this clock on

  wire quiet = desc_ready & ~(desc_valid | done_valid | busy | src_req | src_rvalid |
      dst_req | axi_offers);

  // X counts as activity.
  assign active_o = accepted != retired || quiet !== 1'b1 || src_owed != 16'd0 ||
      axi_reads_open || axi_writes_open;

  initial begin
    accepted = 8'd0;
    retired = 8'd0;
    src_owed = 16'd0;
    src_put = 11'd0;
    src_take = 11'd0;
  end

  task unknown;
    begin
      if (`PTO_IS_X(desc_ready)) `PTO_ERROR(Slot, "X-DESC: X or Z on desc_ready_o", 0, 0);
      if (`PTO_IS_X(done_valid)) `PTO_ERROR(Slot, "X-DONE: X or Z on done_valid_o", 0, 0);
      if (`PTO_IS_X(busy)) `PTO_ERROR(Slot, "X-BUSY: X or Z on busy_o", 0, 0);
      if (`PTO_IS_X(src_req)) `PTO_ERROR(Slot, "X-SRC: X or Z on src_req_o", 0, 0);
      if (`PTO_IS_X(dst_req)) `PTO_ERROR(Slot, "X-DST: X or Z on dst_req_o", 0, 0);
      if (`PTO_IS_X(desc_valid)) `PTO_ERROR(Slot, "X-MEMORY: X or Z on desc_valid_i", 0, 0);
      if (`PTO_IS_X(done_ready)) `PTO_ERROR(Slot, "X-MEMORY: X or Z on done_ready_i", 0, 0);
      if (`PTO_IS_X(src_gnt)) `PTO_ERROR(Slot, "X-MEMORY: X or Z on src_gnt_i", 0, 0);
      if (`PTO_IS_X(src_rvalid)) `PTO_ERROR(Slot, "X-MEMORY: X or Z on src_rvalid_i", 0, 0);
      if (`PTO_IS_X(dst_gnt)) `PTO_ERROR(Slot, "X-MEMORY: X or Z on dst_gnt_i", 0, 0);
    end
  endtask

  task unknown_done;
    begin
      if (`PTO_IS_X(done_tag)) `PTO_ERROR(Slot, "X-DONE: X or Z on done_tag_o", 0, 0);
      if (`PTO_IS_X(done_status))
        `PTO_ERROR(Slot, "X-DONE: X or Z on done_status_o (tag)", done_tag, 0);
      if (`PTO_IS_X(done_rule))
        `PTO_ERROR(Slot, "X-DONE: X or Z on done_rule_o (tag, status)", done_tag, done_status);
      if (`PTO_IS_X(done_addr))
        `PTO_ERROR(Slot, "X-DONE: X or Z on done_addr_o (tag, status)", done_tag, done_status);
    end
  endtask

  // Owner of the tag of a done that is not the oldest's.
  task wrong_tag;
    begin
      younger = 1'b0;
      for (other = retired; other != accepted; other = other + 8'd1)
        if (tags[other] == done_tag) younger = 1'b1;
      for (other = 8'd1; other <= history; other = other + 8'd1)
        if (tags[retired-other] == done_tag) again = !younger;
      if (younger)
        `PTO_ERROR(Slot, "DONE-ORDER: a younger descriptor's tag (done_tag_o, the oldest's)",
                   done_tag, tags[retired]);
      else if (again)
        `PTO_ERROR(Slot, "DONE-TWICE: the tag was answered already (done_tag_o, descriptors left)",
                   done_tag, {accepted - retired});
      else
        `PTO_ERROR(Slot, "DONE-UNKNOWN-TAG: no descriptor has it (done_tag_o, descriptors left)",
                   done_tag, {accepted - retired});
    end
  endtask

  always @(posedge clk_i) begin
    if (!rst_ni) begin
      if (done_valid) `PTO_ERROR(Slot, "DONE-RESET: done_valid_o is up in reset", 0, 0);
      if (src_req) `PTO_ERROR(Slot, "SRC-RESET: src_req_o is up in reset", 0, 0);
      if (dst_req) `PTO_ERROR(Slot, "DST-RESET: dst_req_o is up in reset", 0, 0);
      if (`PTO_IS_X(done_valid))
        `PTO_ERROR(Slot, "X-DONE: X or Z on done_valid_o in reset", 0, 0);
      if (`PTO_IS_X(src_req)) `PTO_ERROR(Slot, "X-SRC: X or Z on src_req_o in reset", 0, 0);
      if (`PTO_IS_X(dst_req)) `PTO_ERROR(Slot, "X-DST: X or Z on dst_req_o in reset", 0, 0);
      desc_waits = 1'b0;
      done_waits = 1'b0;
      accepted = 8'd0;
      retired = 8'd0;
      history = 8'd0;
      src_owed = 16'd0;
      src_put = 11'd0;
      src_take = 11'd0;
      idle_seen = 1'b0;
      alone = 1'b0;
      moved = 1'b0;
      again = 1'b0;
    end else if (accepted == retired && quiet === 1'b1 && idle_seen && !desc_waits &&
                 !done_waits) begin
      // No event is possible: most clocks of an idle slot.
    end else begin
      if (`PTO_IS_X({desc_valid, desc_ready, done_valid, done_ready, busy, src_req,
                     src_gnt, src_rvalid, dst_req, dst_gnt}))
        unknown;
      if (src_rvalid && src_owed == 16'd0)
        `PTO_ERROR(Slot, "SRC-UNASKED: read data without a grant", 0, 0);
      src_last = src_owed == 16'd1 && src_rvalid;
      offers_done = 1'b0;
      if (src_req || dst_req || axi_offers) moved = 1'b1;
      if (accepted == retired) begin
        if ((src_req || dst_req || axi_offers) && !desc_valid)
          `PTO_ERROR(Slot, "IDLE-TRAFFIC: bus activity without a descriptor ({src, dst}, AXI)",
                     {src_req, dst_req}, axi_offers);
        if (busy && idle_seen && !desc_valid)
          `PTO_ERROR(Slot, "BUSY-HIGH: busy_o is high without a descriptor", 0, 0);
        idle_seen = 1'b1;
      end else begin
        idle_seen = 1'b0;
        if (!busy)
          `PTO_ERROR(Slot, "BUSY-LOW: busy_o is low with descriptors accepted (number)",
                     {accepted - retired}, 0);
      end
      if (done_valid && !done_waits) begin  // a later change is an error by itself
        again = 1'b0;
        if (`PTO_IS_X(done)) unknown_done;
        if (accepted == retired || done_tag != tags[retired]) wrong_tag;
        if (done_status == 3'd7)
          `PTO_ERROR(Slot, "DONE-STATUS: no such done_status_o (tag, status)", done_tag,
                     done_status);
        if (done_status != 3'd1 && done_rule != 8'd0)
          `PTO_ERROR(Slot, "DONE-RULE: done_rule_o without status 1 (status, rule)", done_status,
                     done_rule);
        if (done_status <= 3'd1 && done_addr != 0)
          `PTO_ERROR(Slot, "DONE-ADDR: done_addr_o without an access error (status, address)",
                     done_status, done_addr);
        if (accepted - retired == 8'd1) begin
          if (axi_writes_open || (dst_req && !dst_gnt))
            `PTO_ERROR(Slot, "DONE-EARLY-WRITE: before the last write (dst_req_o, AXI)",
                       dst_req, axi_writes_open);
          if (axi_reads_open || src_req || (src_owed != 16'd0 && !src_last))
            `PTO_ERROR(Slot, "DONE-EARLY-READ: reads are outstanding (src owed, AXI)", src_owed,
                       axi_reads_open);
          if (done_status == 3'd1 && alone && moved)
            `PTO_ERROR(Slot, "RULE-TRAFFIC: bus activity of a refused descriptor (tag, rule)",
                       done_tag, done_rule);
        end
        offers_done = 1'b1;
      end
      if (src_rvalid && src_owed != 16'd0) begin
        src_owed = src_owed - 16'd1;
        src_take = src_take + 11'd1;
      end
      if (offers_done) begin  // the scoreboard judges whose accesses they are
        if (src_owed != 16'd0)
          `PTO(owes)(Slot, 2, src_words[src_take][LocalAddrWidth+:3],
                     src_words[src_take][LocalAddrWidth-1:0]);
        else if (src_req) `PTO(owes)(Slot, 2, src_space, src_addr);
        if (dst_req && !dst_gnt) `PTO(owes)(Slot, 3, dst_space, dst_addr);
      end
      if (src_req && src_gnt) begin
        src_words[src_put] = {src_space, src_addr};
        src_put = src_put + 11'd1;
        src_owed = src_owed + 16'd1;
      end

      if (desc_waits) begin
        if (!desc_valid)
          `PTO_ERROR(Slot, "DESC-HELD: desc_valid_i fell before desc_ready_o (tag)",
                     desc_held[DescWidth+:TagWidth], 0);
        else if ({desc_tag, desc} !== desc_held)
          `PTO_ERROR(Slot, "DESC-STABLE: desc_i or desc_tag_i changed before desc_ready_o (tag)",
                     desc_tag, 0);
      end else if (desc_valid && !desc_ready) begin
        desc_held = {desc_tag, desc};
      end
      desc_waits = desc_valid && !desc_ready;
      if (done_waits) begin
        if (!done_valid)
          `PTO_ERROR(Slot, "DONE-HELD: done_valid_o fell before done_ready_i (tag)",
                     done_held[DoneBits-1-:TagWidth], 0);
        else if (done !== done_held)
          `PTO_ERROR(Slot, "DONE-STABLE: the record changed before done_ready_i (tag, status)",
                     done_tag, done_status);
      end
      done_waits = done_valid && !done_ready;
      if (done_waits) done_held = done;

      // A second done retires nothing here, so that the next one is not reported for it.
      if (done_valid && done_ready && accepted != retired && !again) begin
        retired = retired + 8'd1;
        if (history != History) history = history + 8'd1;
      end
      if (desc_valid && desc_ready) begin
        alone = accepted == retired;
        moved = 1'b0;
        tags[accepted] = desc_tag;
        accepted = accepted + 8'd1;
      end
    end
  end

  // --- local ports ---

  function bad_space(input [2:0] space);
    bad_space = space == 3'd0;
  endfunction

  reg src_waits, dst_waits;
  reg [LocalAddrWidth+2:0] src_held, dst_held;
  reg [DstDataWidth/8-1:0] dst_held_be;
  reg [DstDataWidth-1:0] dst_held_wdata;

  task unknown_src;
    begin
      if (`PTO_IS_X(src_space)) `PTO_ERROR(Slot, "X-SRC: X or Z on src_space_o", 0, 0);
      if (`PTO_IS_X(src_addr))
        `PTO_ERROR(Slot, "X-SRC: X or Z on src_addr_o (its other bits)", src_addr, 0);
    end
  endtask

  task unknown_dst;  // written bytes are checked at the write
    begin
      if (`PTO_IS_X(dst_space)) `PTO_ERROR(Slot, "X-DST: X or Z on dst_space_o", 0, 0);
      if (`PTO_IS_X(dst_addr))
        `PTO_ERROR(Slot, "X-DST: X or Z on dst_addr_o (its other bits)", dst_addr, 0);
      if (`PTO_IS_X(dst_be))
        `PTO_ERROR(Slot, "X-DST: X or Z on dst_be_o (address, its other bits)", dst_addr,
                   dst_be);
    end
  endtask

  always @(posedge clk_i) begin
    if (!rst_ni) begin
      src_waits = 1'b0;
      dst_waits = 1'b0;
    end else if (src_req !== 1'b0 || dst_req !== 1'b0 || src_waits || dst_waits) begin
      if (src_waits) begin
        if (!src_req)
          `PTO_ERROR(Slot, "SRC-HELD: src_req_o fell before src_gnt_i (space, address)",
                     src_held[LocalAddrWidth+:3], src_held[LocalAddrWidth-1:0]);
        else if ({src_space, src_addr} !== src_held)
          `PTO_ERROR(Slot, "SRC-STABLE: payload changed before src_gnt_i (space, address)",
                     src_space, src_addr);
      end else if (src_req && `PTO_IS_X({src_space, src_addr})) begin
        unknown_src;
      end
      src_waits = src_req && !src_gnt;
      if (src_req) begin
        src_held = {src_space, src_addr};
        if (src_gnt) begin
          if (src_addr[SrcOffsetBits-1:0] != 0)
            `PTO_ERROR(Slot, "SRC-ALIGN: src_addr_o is not word aligned (space, address)",
                       src_space, src_addr);
          if (bad_space(src_space))
            `PTO_ERROR(Slot, "SRC-SPACE: no such on-chip memory (space, address)", src_space,
                       src_addr);
        end
      end
      if (dst_waits) begin
        if (!dst_req)
          `PTO_ERROR(Slot, "DST-HELD: dst_req_o fell before dst_gnt_i (space, address)",
                     dst_held[LocalAddrWidth+:3], dst_held[LocalAddrWidth-1:0]);
        else if ({dst_space, dst_addr} !== dst_held || dst_be !== dst_held_be ||
                 dst_wdata !== dst_held_wdata)
          `PTO_ERROR(Slot, "DST-STABLE: payload changed before dst_gnt_i (space, address)",
                     dst_space, dst_addr);
      end else if (dst_req && `PTO_IS_X({dst_space, dst_addr, dst_be})) begin
        unknown_dst;
      end
      dst_waits = dst_req && !dst_gnt;
      if (dst_waits) begin
        dst_held = {dst_space, dst_addr};
        dst_held_be = dst_be;
        dst_held_wdata = dst_wdata;
      end
      if (dst_req && dst_gnt) begin
        if (dst_addr[DstOffsetBits-1:0] != 0)
          `PTO_ERROR(Slot, "DST-ALIGN: dst_addr_o is not word aligned (space, address)",
                     dst_space, dst_addr);
        if (bad_space(dst_space))
          `PTO_ERROR(Slot, "DST-SPACE: no such on-chip memory (space, address)", dst_space,
                     dst_addr);
      end
    end
  end
endmodule

`default_nettype wire

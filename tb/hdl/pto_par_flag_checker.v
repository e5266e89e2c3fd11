// SPDX-License-Identifier: Apache-2.0
// Monitors the ports par and flag of slot fix and reports violations of docs/protocol.md; each
// message begins with the rule's name. The scoreboard checks that the flags are those of the op.
// Simulation only.
`default_nettype none
`timescale 1ns / 1ps

module pto_par_flag_checker #(
    parameter Slot = 3,             // number of the slot in the mailbox
    parameter LocalAddrWidth = 20,  // bits of a local address
    parameter ParDataWidth = 512,   // bits of a word of parameters
    parameter DescWidth = 512       // bits of a descriptor
) (
    input  wire                      clk_i,
    input  wire                      rst_ni,
    output wire                      active_o,  // not idle: the clock must go on
    input  wire                      desc_valid,
    input  wire                      desc_ready,
    input  wire [     DescWidth-1:0] desc,
    input  wire                      done_valid,
    input  wire                      done_ready,
    input  wire                      par_req,
    input  wire                      par_gnt,
    input  wire [               2:0] par_space,
    input  wire [LocalAddrWidth-1:0] par_addr,
    input  wire                      par_rvalid,
    input  wire                      flag_req,
    input  wire                      flag_gnt,
    input  wire                      flag_clear,
    input  wire [               3:0] flag_addr,
    input  wire [              31:0] flag_mask,
    input  wire                      flag_rvalid
);
  `include "pto_backend.vh"

  localparam OffsetBits = $clog2(ParDataWidth / 8);
  localparam [2:0] FB = 3'd6;
  // From pto_desc.vh, which not every engine includes; a test compares them.
  localparam [7:0] FIRST_OP = 8'd10, LAST_OP = 8'd12;  // mte_l0c_gm, mte_l0c_l1, mte_l0c_ub
  localparam UnitFlagLsb = 158, UnitFlagWidth = 3;
  localparam [UnitFlagWidth-1:0] CHECK_ONLY = 2, CHECK_AND_CLEAR = 3;

  // --- ops in flight ---

  wire write_back = desc[7:0] >= FIRST_OP && desc[7:0] <= LAST_OP;
  wire [UnitFlagWidth-1:0] unit_flag = desc[UnitFlagLsb+:UnitFlagWidth];
  wire desc_clears = write_back && unit_flag == CHECK_AND_CLEAR;
  wire desc_waits = desc_clears || (write_back && unit_flag == CHECK_ONLY);
  reg [255:0] waits, clears;       // a bit for each op
  reg [7:0] accepted, retired;     // modulo 256
  reg [7:0] waiting;               // ops in flight that wait for flags
  reg [15:0] par_owed, flag_owed;  // outstanding responses
  reg [LocalAddrWidth+2:0] par_words[0:2047];  // space and address of the words owed
  reg [10:0] par_put, par_take;
  reg par_waits, flag_waits, done_waits;
  reg [LocalAddrWidth+2:0] par_held;
  reg [36:0] flag_held;

  wire [36:0] flag = {flag_clear, flag_addr, flag_mask};

  // X counts as activity.
  assign active_o = (par_req | par_rvalid | flag_req | flag_rvalid) !== 1'b0 ||
      par_owed != 16'd0 || flag_owed != 16'd0;

  initial begin
    par_owed = 16'd0;
    flag_owed = 16'd0;
    par_put = 11'd0;
    par_take = 11'd0;
  end

  task unknown;
    begin
      if (`PTO_IS_X(par_req)) `PTO_ERROR(Slot, "X-PAR: X or Z on par_req_o", 0, 0);
      if (`PTO_IS_X(flag_req)) `PTO_ERROR(Slot, "X-FLAG: X or Z on flag_req_o", 0, 0);
      if (`PTO_IS_X(par_gnt)) `PTO_ERROR(Slot, "X-MEMORY: X or Z on par_gnt_i", 0, 0);
      if (`PTO_IS_X(par_rvalid)) `PTO_ERROR(Slot, "X-MEMORY: X or Z on par_rvalid_i", 0, 0);
      if (`PTO_IS_X(flag_gnt)) `PTO_ERROR(Slot, "X-MEMORY: X or Z on flag_gnt_i", 0, 0);
      if (`PTO_IS_X(flag_rvalid)) `PTO_ERROR(Slot, "X-MEMORY: X or Z on flag_rvalid_i", 0, 0);
    end
  endtask

  task unknown_par;
    begin
      if (`PTO_IS_X(par_space)) `PTO_ERROR(Slot, "X-PAR: X or Z on par_space_o", 0, 0);
      if (`PTO_IS_X(par_addr))
        `PTO_ERROR(Slot, "X-PAR: X or Z on par_addr_o (its other bits)", par_addr, 0);
    end
  endtask

  task unknown_flag;
    begin
      if (`PTO_IS_X(flag_clear)) `PTO_ERROR(Slot, "X-FLAG: X or Z on flag_clear_o", 0, 0);
      if (`PTO_IS_X(flag_addr)) `PTO_ERROR(Slot, "X-FLAG: X or Z on flag_addr_o", 0, 0);
      if (`PTO_IS_X(flag_mask))
        `PTO_ERROR(Slot, "X-FLAG: X or Z on flag_mask_o (word, its other bits)", flag_addr,
                   flag_mask);
    end
  endtask

  always @(posedge clk_i) begin
    if (!rst_ni) begin
      if (par_req) `PTO_ERROR(Slot, "PAR-RESET: par_req_o is up in reset", 0, 0);
      if (flag_req) `PTO_ERROR(Slot, "FLAG-RESET: flag_req_o is up in reset", 0, 0);
      if (`PTO_IS_X(par_req)) `PTO_ERROR(Slot, "X-PAR: X or Z on par_req_o in reset", 0, 0);
      if (`PTO_IS_X(flag_req)) `PTO_ERROR(Slot, "X-FLAG: X or Z on flag_req_o in reset", 0, 0);
      par_waits = 1'b0;
      flag_waits = 1'b0;
      done_waits = 1'b0;
      par_owed = 16'd0;
      flag_owed = 16'd0;
      par_put = 11'd0;
      par_take = 11'd0;
      accepted = 8'd0;
      retired = 8'd0;
      waiting = 8'd0;
    end else if (par_req !== 1'b0 || flag_req !== 1'b0 || par_rvalid !== 1'b0 ||
                 flag_rvalid !== 1'b0 || par_waits || flag_waits || desc_valid ||
                 done_valid || done_waits) begin
      if (`PTO_IS_X({par_req, par_gnt, par_rvalid, flag_req, flag_gnt, flag_rvalid}))
        unknown;
      if (par_rvalid && par_owed == 16'd0)
        `PTO_ERROR(Slot, "PAR-UNASKED: read data without a grant", 0, 0);
      if (flag_rvalid && flag_owed == 16'd0)
        `PTO_ERROR(Slot, "FLAG-UNASKED: answer without a grant", 0, 0);
      if (par_rvalid && par_owed != 16'd0) begin
        par_owed = par_owed - 16'd1;
        par_take = par_take + 11'd1;
      end
      if (flag_rvalid && flag_owed != 16'd0) flag_owed = flag_owed - 16'd1;
      if (accepted == retired && !desc_valid && (par_req || flag_req))
        `PTO_ERROR(Slot, "IDLE-TRAFFIC: bus activity without a descriptor (par, flag)", par_req,
                   flag_req);
      if (done_valid && !done_waits && accepted - retired == 8'd1) begin
        if (par_req || par_owed != 16'd0)
          `PTO_ERROR(Slot, "DONE-EARLY-PAR: parameter reads are outstanding (req, owed)",
                     par_req, par_owed);
        if ((flag_req && !flag_clear) || flag_owed != 16'd0)
          `PTO_ERROR(Slot, "DONE-EARLY-FLAG: flag reads are outstanding (req, owed)", flag_req,
                     flag_owed);
      end
      if (done_valid && !done_waits) begin  // the scoreboard judges whose read it is
        if (par_owed != 16'd0)
          `PTO(owes)(Slot, 4, par_words[par_take][LocalAddrWidth+:3],
                     par_words[par_take][LocalAddrWidth-1:0]);
        else if (par_req) `PTO(owes)(Slot, 4, par_space, par_addr);
      end
      done_waits = done_valid && !done_ready;

      if (par_waits) begin
        if (!par_req)
          `PTO_ERROR(Slot, "PAR-HELD: par_req_o fell before par_gnt_i (space, address)",
                     par_held[LocalAddrWidth+:3], par_held[LocalAddrWidth-1:0]);
        else if ({par_space, par_addr} !== par_held)
          `PTO_ERROR(Slot, "PAR-STABLE: payload changed before par_gnt_i (space, address)",
                     par_space, par_addr);
      end else if (par_req && `PTO_IS_X({par_space, par_addr})) begin
        unknown_par;
      end
      par_waits = par_req && !par_gnt;
      if (par_req) begin
        par_held = {par_space, par_addr};
        if (par_gnt) begin
          par_words[par_put] = {par_space, par_addr};
          par_put = par_put + 11'd1;
          par_owed = par_owed + 16'd1;
          if (par_addr[OffsetBits-1:0] != 0)
            `PTO_ERROR(Slot, "PAR-ALIGN: par_addr_o is not word aligned (space, address)",
                       par_space, par_addr);
          if (par_space != FB)
            `PTO_ERROR(Slot, "PAR-SPACE: par_space_o is not FB (space, address)", par_space,
                       par_addr);
        end
      end

      if (flag_waits) begin
        if (!flag_req)
          `PTO_ERROR(Slot, "FLAG-HELD: flag_req_o fell before flag_gnt_i (word, mask)",
                     flag_held[35:32], flag_held[31:0]);
        else if (flag !== flag_held)
          `PTO_ERROR(Slot, "FLAG-STABLE: payload changed before flag_gnt_i (word, mask)",
                     flag_addr, flag_mask);
      end else if (flag_req) begin
        // A request is checked once; a later change of it is an error by itself.
        if (`PTO_IS_X(flag)) unknown_flag;
        if (flag_mask == 32'd0)
          `PTO_ERROR(Slot, "FLAG-MASK: flag_mask_o is 0 (clear, word)", flag_clear, flag_addr);
        if (flag_clear && accepted != retired && !clears[retired])
          `PTO_ERROR(Slot, "FLAG-CLEAR: the oldest descriptor does not clear flags (word, mask)",
                     flag_addr, flag_mask);
        if (!flag_clear && waiting == 8'd0 && (desc_valid ? !desc_waits : accepted != retired))
          `PTO_ERROR(Slot, "FLAG-READ: no descriptor waits for flags (word, mask)", flag_addr,
                     flag_mask);
      end
      if (flag_req && flag_clear && done_valid)
        `PTO_ERROR(Slot, "FLAG-AT-DONE: clear while a done is offered (word, mask)", flag_addr,
                   flag_mask);
      flag_waits = flag_req && !flag_gnt;
      if (flag_req) begin
        flag_held = flag;
        if (flag_gnt && flag_clear !== 1'b1) flag_owed = flag_owed + 16'd1;
      end

      if (done_valid && done_ready && accepted != retired) begin
        if (waits[retired]) waiting = waiting - 8'd1;
        retired = retired + 8'd1;
      end
      if (desc_valid && desc_ready) begin
        waits[accepted] = desc_waits;
        clears[accepted] = desc_clears;
        if (desc_waits) waiting = waiting + 8'd1;
        accepted = accepted + 8'd1;
      end
    end
  end
endmodule

`default_nettype wire

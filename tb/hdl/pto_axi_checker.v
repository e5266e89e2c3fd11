// SPDX-License-Identifier: Apache-2.0
// Monitors one slot's AXI4 manager and the memory, and reports violations of docs/protocol.md; each
// message begins with the name of the rule. Every violation is counted, and the first ones are
// printed. Simulation only.
`default_nettype none
`timescale 1ns / 1ps

module pto_axi_checker #(
    parameter Slot = 0,              // number of the slot in the mailbox
    parameter AddrWidth = 40,        // bits of an address
    parameter DataWidth = 256,       // bits of data
    parameter IdWidth = 4,           // bits of an ID
    parameter MaxOutstanding = 16    // bursts in flight in each direction
) (
    input  wire                   clk_i,
    input  wire                   rst_ni,
    input  wire                   done_valid,
    input  wire                   done_ready,
    output wire                   axi_reads_open,   // reads are outstanding or offered
    output wire                   axi_writes_open,  // the same, or in progress
    output wire                   axi_offers,       // an address or data valid is up
    input  wire [    IdWidth-1:0] m_axi_arid,
    input  wire [  AddrWidth-1:0] m_axi_araddr,
    input  wire [            7:0] m_axi_arlen,
    input  wire [            2:0] m_axi_arsize,
    input  wire [            1:0] m_axi_arburst,
    input  wire                   m_axi_arvalid,
    input  wire                   m_axi_arready,
    input  wire [    IdWidth-1:0] m_axi_rid,
    input  wire [  DataWidth-1:0] m_axi_rdata,
    input  wire [            1:0] m_axi_rresp,
    input  wire                   m_axi_rlast,
    input  wire                   m_axi_rvalid,
    input  wire                   m_axi_rready,
    input  wire [    IdWidth-1:0] m_axi_awid,
    input  wire [  AddrWidth-1:0] m_axi_awaddr,
    input  wire [            7:0] m_axi_awlen,
    input  wire [            2:0] m_axi_awsize,
    input  wire [            1:0] m_axi_awburst,
    input  wire                   m_axi_awvalid,
    input  wire                   m_axi_awready,
    input  wire [  DataWidth-1:0] m_axi_wdata,
    input  wire [DataWidth/8-1:0] m_axi_wstrb,
    input  wire                   m_axi_wlast,
    input  wire                   m_axi_wvalid,
    input  wire                   m_axi_wready,
    input  wire [    IdWidth-1:0] m_axi_bid,
    input  wire [            1:0] m_axi_bresp,
    input  wire                   m_axi_bvalid,
    input  wire                   m_axi_bready
);
  `include "pto_backend.vh"
  // One process a direction, in the order of events on an edge; skipped where no event is possible,
  // because every statement costs time in Icarus.

  localparam Bytes = DataWidth / 8;
  localparam [2:0] Size = $clog2(Bytes);
  localparam AddressBits = IdWidth + AddrWidth + 13;

  // True when the burst leaves its 4 KiB page.
  function crosses(input [11:0] addr, input [7:0] len);
    reg [15:0] last;
    begin
      last = ({4'd0, addr} & ~(16'd1 * Bytes - 16'd1)) + ({8'd0, len} + 16'd1) * Bytes;
      crosses = last > 16'd4096;
    end
  endfunction

  // True when two bursts have a beat in common; each lies in one page.
  function overlap(input [AddrWidth-1:0] a, input [7:0] a_len, input [AddrWidth-1:0] b,
                   input [7:0] b_len);
    reg [12:0] first_a, first_b;  // beats of the page
    begin
      first_a = {1'b0, a[11:0]} >> Size;
      first_b = {1'b0, b[11:0]} >> Size;
      overlap = a[AddrWidth-1:12] == b[AddrWidth-1:12] && first_a <= first_b + {5'd0, b_len} &&
          first_b <= first_a + {5'd0, a_len};
    end
  endfunction

  // Processes see the done that is offered first in the same way: this one is from clock to clock.
  reg done_waits_q;

  initial done_waits_q = 1'b0;

  // A reset drops waiting signals at once, but the memory responds to it with the clock.
  reg reset_seen;  // an edge occurred in this reset

  initial reset_seen = 1'b0;

  always @(negedge rst_ni) reset_seen <= 1'b0;

  // --- reads ---

  wire [AddressBits-1:0] ar = {m_axi_arid, m_axi_araddr, m_axi_arlen, m_axi_arsize, m_axi_arburst};
  wire [IdWidth+DataWidth+2:0] r = {m_axi_rid, m_axi_rdata, m_axi_rresp, m_axi_rlast};
  reg ar_waits;
  reg [AddressBits-1:0] ar_held;
  reg ar_known;  // an AR was sampled, its ID holds for all
  reg [IdWidth-1:0] ar_first_id;
  reg r_waits;
  reg [IdWidth+DataWidth+2:0] r_held;
  reg [IdWidth+7:0] r_burst[0:255];  // ID and length of the bursts with data outstanding
  reg [AddrWidth-1:0] r_addr[0:255];
  reg [IdWidth-1:0] r_id;            // those of the oldest
  reg [7:0] r_len;
  reg [7:0] r_write, r_read;
  reg [8:0] r_beats;  // sampled of the oldest
  reg r_full;         // that was its last
  reg [7:0] reads_q;  // bursts outstanding

  task unknown_reads;
    begin
      if (`PTO_IS_X(m_axi_arvalid)) `PTO_ERROR(Slot, "X-AR: X or Z on ARVALID", 0, 0);
      if (`PTO_IS_X(m_axi_rready)) `PTO_ERROR(Slot, "X-R: X or Z on RREADY", 0, 0);
      if (`PTO_IS_X(m_axi_arready)) `PTO_ERROR(Slot, "X-MEMORY: X or Z on ARREADY", 0, 0);
      if (`PTO_IS_X(m_axi_rvalid)) `PTO_ERROR(Slot, "X-MEMORY: X or Z on RVALID", 0, 0);
    end
  endtask

  task unknown_ar;
    begin
      if (`PTO_IS_X(m_axi_arid)) `PTO_ERROR(Slot, "X-AR: X or Z on ARID", 0, 0);
      if (`PTO_IS_X(m_axi_araddr))
        `PTO_ERROR(Slot, "X-AR: X or Z on ARADDR (its other bits)", m_axi_araddr, 0);
      if (`PTO_IS_X(m_axi_arlen)) `PTO_ERROR(Slot, "X-AR: X or Z on ARLEN", 0, 0);
      if (`PTO_IS_X(m_axi_arsize)) `PTO_ERROR(Slot, "X-AR: X or Z on ARSIZE", 0, 0);
      if (`PTO_IS_X(m_axi_arburst)) `PTO_ERROR(Slot, "X-AR: X or Z on ARBURST", 0, 0);
    end
  endtask

  task unknown_r;
    begin
      if (`PTO_IS_X(m_axi_rid) && !`PTO_IS_X(r_id))
        `PTO_ERROR(Slot, "X-MEMORY: X or Z on RID", 0, 0);
      if (`PTO_IS_X(m_axi_rresp)) `PTO_ERROR(Slot, "X-MEMORY: X or Z on RRESP", 0, 0);
      if (`PTO_IS_X(m_axi_rlast) && !`PTO_IS_X(r_len))
        `PTO_ERROR(Slot, "X-MEMORY: X or Z on RLAST", 0, 0);
    end
  endtask

  always @(posedge clk_i) begin
    if (!rst_ni) begin
      if (m_axi_arvalid) `PTO_ERROR(Slot, "AR-RESET: ARVALID is up in reset", 0, 0);
      if (`PTO_IS_X(m_axi_arvalid)) `PTO_ERROR(Slot, "X-AR: X or Z on ARVALID in reset", 0, 0);
      if (reset_seen && m_axi_rvalid) `PTO_ERROR(Slot, "R-RESET: RVALID is up in reset", 0, 0);
      ar_known = 1'b0;
      ar_waits = 1'b0;
      r_waits = 1'b0;
      r_write = 8'd0;
      r_read = 8'd0;
      r_beats = 9'd0;
      reads_q <= 8'd0;
      done_waits_q <= 1'b0;
    end else if (m_axi_arvalid !== 1'b0 || m_axi_rvalid !== 1'b0 || ar_waits || r_waits ||
                 done_valid || done_waits_q || `PTO_IS_X(m_axi_rready)) begin
      if (`PTO_IS_X({m_axi_arvalid, m_axi_arready, m_axi_rvalid, m_axi_rready})) unknown_reads;
      if (ar_waits) begin
        if (!m_axi_arvalid)
          `PTO_ERROR(Slot, "AR-HELD: ARVALID fell before ARREADY (ARADDR, ARLEN)",
                     ar_held[13+:AddrWidth], ar_held[12:5]);
        else if (ar !== ar_held)
          `PTO_ERROR(Slot, "AR-STABLE: payload changed before ARREADY (ARADDR, ARLEN)",
                     m_axi_araddr, m_axi_arlen);
      end else if (m_axi_arvalid && `PTO_IS_X(ar)) begin
        unknown_ar;
      end
      ar_waits = m_axi_arvalid && !m_axi_arready;
      if (m_axi_arvalid) begin
        ar_held = ar;
        if (m_axi_arready) begin
          if (m_axi_arburst != 2'd1)
            `PTO_ERROR(Slot, "AR-BURST: the burst is not INCR (ARADDR, ARBURST)", m_axi_araddr,
                       m_axi_arburst);
          if (m_axi_arsize != Size)
            `PTO_ERROR(Slot, "AR-SIZE: beats are not full width (ARADDR, ARSIZE)", m_axi_araddr,
                       m_axi_arsize);
          if ((m_axi_araddr & (Bytes - 1)) != 0)
            `PTO_ERROR(Slot, "AR-ALIGN: ARADDR is not aligned to the bus word (ARADDR, ARLEN)",
                       m_axi_araddr, m_axi_arlen);
          if (crosses(m_axi_araddr[11:0], m_axi_arlen))
            `PTO_ERROR(Slot, "AR-4K: the burst crosses 4 KiB (ARADDR, ARLEN)", m_axi_araddr,
                       m_axi_arlen);
          if (ar_known && m_axi_arid != ar_first_id)
            `PTO_ERROR(Slot, "AR-ID: more than one ARID (first, this)", ar_first_id, m_axi_arid);
          if (!ar_known) ar_first_id = m_axi_arid;
          ar_known = 1'b1;
          r_burst[r_write] = {m_axi_arid, m_axi_arlen};
          r_addr[r_write] = m_axi_araddr;
          r_write = r_write + 8'd1;
        end
      end
      if (r_waits) begin
        if (!m_axi_rvalid)
          `PTO_ERROR(Slot, "R-HELD: RVALID fell before RREADY", 0, 0);
        else if (r !== r_held)
          `PTO_ERROR(Slot, "R-STABLE: payload changed before RREADY (RRESP, RLAST)", m_axi_rresp,
                     m_axi_rlast);
      end
      r_waits = m_axi_rvalid && !m_axi_rready;
      if (r_waits) r_held = r;
      if (m_axi_rvalid && m_axi_rready) begin
        if (r_write == r_read) begin
          `PTO_ERROR(Slot, "R-UNASKED: read data without a burst (RID)", m_axi_rid, 0);
        end else begin
          {r_id, r_len} = r_burst[r_read];
          if (`PTO_IS_X({m_axi_rid, m_axi_rresp, m_axi_rlast})) unknown_r;
          r_full = r_beats == {1'b0, r_len};
          r_beats = r_beats + 9'd1;
          if (m_axi_rlast != r_full)
            `PTO_ERROR(Slot, "R-LAST: RLAST is not on the last beat (beats, ARLEN)", r_beats,
                       r_len);
          if (m_axi_rid != r_id)
            `PTO_ERROR(Slot, "R-ID: RID is not ARID (ARID, RID)", r_id, m_axi_rid);
          if (m_axi_rresp == 2'd1)
            `PTO_ERROR(Slot, "R-RESP: RRESP is EXOKAY (beats)", r_beats, 0);
          if (m_axi_rlast || r_full) begin  // go on with the next burst
            r_read = r_read + 8'd1;
            r_beats = 9'd0;
          end
        end
      end
      if ({r_write - r_read} > MaxOutstanding)
        `PTO_ERROR(Slot, "AR-LIMIT: too many read bursts outstanding (number, limit)",
                   {r_write - r_read}, MaxOutstanding);
      reads_q <= r_write - r_read;
      if (done_valid && !done_waits_q) begin  // the scoreboard judges whose read it is
        if (r_write != r_read) `PTO(owes)(Slot, 0, 0, r_addr[r_read]);
        else if (ar_waits) `PTO(owes)(Slot, 0, 0, m_axi_araddr);
      end
      done_waits_q <= done_valid && !done_ready;
    end
  end

  // --- writes ---

  wire [AddressBits-1:0] aw = {m_axi_awid, m_axi_awaddr, m_axi_awlen, m_axi_awsize, m_axi_awburst};
  wire [IdWidth+1:0] b = {m_axi_bid, m_axi_bresp};
  reg aw_waits;
  reg [AddressBits-1:0] aw_held;
  reg aw_known;
  reg [IdWidth-1:0] aw_first_id;
  reg w_waits, w_held_last;
  reg [DataWidth-1:0] w_held;
  reg [DataWidth/8-1:0] w_held_strobe;
  reg b_waits;
  reg [IdWidth+1:0] b_held;
  reg [7:0] aw_len[0:255];  // of bursts after their AW
  reg [AddrWidth-1:0] aw_addr[0:255];
  reg [IdWidth-1:0] aw_id[0:255];
  reg [8:0] w_len[0:255];   // beats of bursts after their WLAST
  reg [7:0] aw_count, w_count, w_checked, b_count;  // modulo 256
  reg [8:0] w_beats;  // of the current burst
  reg [7:0] writes_q;  // bursts outstanding
  reg data_open_q;     // AW and W do not match yet
  reg [7:0] b_next;    // a burst before its B

  task unknown_writes;
    begin
      if (`PTO_IS_X(m_axi_awvalid)) `PTO_ERROR(Slot, "X-AW: X or Z on AWVALID", 0, 0);
      if (`PTO_IS_X(m_axi_wvalid)) `PTO_ERROR(Slot, "X-W: X or Z on WVALID", 0, 0);
      if (`PTO_IS_X(m_axi_bready)) `PTO_ERROR(Slot, "X-B: X or Z on BREADY", 0, 0);
      if (`PTO_IS_X(m_axi_awready)) `PTO_ERROR(Slot, "X-MEMORY: X or Z on AWREADY", 0, 0);
      if (`PTO_IS_X(m_axi_wready)) `PTO_ERROR(Slot, "X-MEMORY: X or Z on WREADY", 0, 0);
      if (`PTO_IS_X(m_axi_bvalid)) `PTO_ERROR(Slot, "X-MEMORY: X or Z on BVALID", 0, 0);
    end
  endtask

  task unknown_aw;
    begin
      if (`PTO_IS_X(m_axi_awid)) `PTO_ERROR(Slot, "X-AW: X or Z on AWID", 0, 0);
      if (`PTO_IS_X(m_axi_awaddr))
        `PTO_ERROR(Slot, "X-AW: X or Z on AWADDR (its other bits)", m_axi_awaddr, 0);
      if (`PTO_IS_X(m_axi_awlen)) `PTO_ERROR(Slot, "X-AW: X or Z on AWLEN", 0, 0);
      if (`PTO_IS_X(m_axi_awsize)) `PTO_ERROR(Slot, "X-AW: X or Z on AWSIZE", 0, 0);
      if (`PTO_IS_X(m_axi_awburst)) `PTO_ERROR(Slot, "X-AW: X or Z on AWBURST", 0, 0);
    end
  endtask

  task unknown_w;  // written bytes are checked at the write
    begin
      if (`PTO_IS_X(m_axi_wlast)) `PTO_ERROR(Slot, "X-W: X or Z on WLAST", 0, 0);
      if (`PTO_IS_X(m_axi_wstrb))
        `PTO_ERROR(Slot, "X-W: X or Z on WSTRB (its other bits)", m_axi_wstrb, 0);
    end
  endtask

  task unknown_b;
    begin
      if (`PTO_IS_X(m_axi_bid) && !`PTO_IS_X(aw_id[b_count]))
        `PTO_ERROR(Slot, "X-MEMORY: X or Z on BID", 0, 0);
      if (`PTO_IS_X(m_axi_bresp)) `PTO_ERROR(Slot, "X-MEMORY: X or Z on BRESP", 0, 0);
    end
  endtask

  task wrong_last(input [8:0] beats, input [7:0] len);
    if (beats <= {1'b0, len})
      `PTO_ERROR(Slot, "W-LAST-EARLY: WLAST before the last beat (beats, AWLEN)", beats, len);
    else
      `PTO_ERROR(Slot, "W-LAST-LATE: no WLAST on the last beat (beats, AWLEN)", beats, len);
  endtask

  always @(posedge clk_i) begin
    if (!rst_ni) begin
      if (m_axi_awvalid) `PTO_ERROR(Slot, "AW-RESET: AWVALID is up in reset", 0, 0);
      if (m_axi_wvalid) `PTO_ERROR(Slot, "W-RESET: WVALID is up in reset", 0, 0);
      if (`PTO_IS_X(m_axi_awvalid)) `PTO_ERROR(Slot, "X-AW: X or Z on AWVALID in reset", 0, 0);
      if (`PTO_IS_X(m_axi_wvalid)) `PTO_ERROR(Slot, "X-W: X or Z on WVALID in reset", 0, 0);
      if (reset_seen && m_axi_bvalid) `PTO_ERROR(Slot, "B-RESET: BVALID is up in reset", 0, 0);
      reset_seen <= 1'b1;
      aw_known = 1'b0;
      aw_waits = 1'b0;
      w_waits = 1'b0;
      b_waits = 1'b0;
      aw_count = 8'd0;
      w_count = 8'd0;
      w_checked = 8'd0;
      b_count = 8'd0;
      w_beats = 9'd0;
      writes_q <= 8'd0;
      data_open_q <= 1'b0;
    end else if (m_axi_awvalid !== 1'b0 || m_axi_wvalid !== 1'b0 || m_axi_bvalid !== 1'b0 ||
                 aw_waits || w_waits || b_waits || done_valid || `PTO_IS_X(m_axi_bready) ||
                 (m_axi_arvalid && writes_q != 8'd0)) begin
      if (`PTO_IS_X({m_axi_awvalid, m_axi_awready, m_axi_wvalid, m_axi_wready, m_axi_bvalid,
                     m_axi_bready}))
        unknown_writes;
      if (aw_waits) begin
        if (!m_axi_awvalid)
          `PTO_ERROR(Slot, "AW-HELD: AWVALID fell before AWREADY (AWADDR, AWLEN)",
                     aw_held[13+:AddrWidth], aw_held[12:5]);
        else if (aw !== aw_held)
          `PTO_ERROR(Slot, "AW-STABLE: payload changed before AWREADY (AWADDR, AWLEN)",
                     m_axi_awaddr, m_axi_awlen);
      end else if (m_axi_awvalid && `PTO_IS_X(aw)) begin
        unknown_aw;
      end
      aw_waits = m_axi_awvalid && !m_axi_awready;
      if (m_axi_awvalid) begin
        aw_held = aw;
        if (m_axi_awready) begin
          if (m_axi_awburst != 2'd1)
            `PTO_ERROR(Slot, "AW-BURST: the burst is not INCR (AWADDR, AWBURST)", m_axi_awaddr,
                       m_axi_awburst);
          if (m_axi_awsize != Size)
            `PTO_ERROR(Slot, "AW-SIZE: beats are not full width (AWADDR, AWSIZE)", m_axi_awaddr,
                       m_axi_awsize);
          if ((m_axi_awaddr & (Bytes - 1)) != 0)
            `PTO_ERROR(Slot, "AW-ALIGN: AWADDR is not aligned to the bus word (AWADDR, AWLEN)",
                       m_axi_awaddr, m_axi_awlen);
          if (crosses(m_axi_awaddr[11:0], m_axi_awlen))
            `PTO_ERROR(Slot, "AW-4K: the burst crosses 4 KiB (AWADDR, AWLEN)", m_axi_awaddr,
                       m_axi_awlen);
          if (aw_known && m_axi_awid != aw_first_id)
            `PTO_ERROR(Slot, "AW-ID: more than one AWID (first, this)", aw_first_id, m_axi_awid);
          if (!aw_known) aw_first_id = m_axi_awid;
          aw_known = 1'b1;
          aw_id[aw_count] = m_axi_awid;
          aw_len[aw_count] = m_axi_awlen;
          aw_addr[aw_count] = m_axi_awaddr;
          aw_count = aw_count + 8'd1;
        end
      end

      if (w_waits) begin
        if (!m_axi_wvalid)
          `PTO_ERROR(Slot, "W-HELD: WVALID fell before WREADY (beats of its burst)", w_beats, 0);
        else if (m_axi_wlast !== w_held_last || m_axi_wstrb !== w_held_strobe ||
                 m_axi_wdata !== w_held)
          `PTO_ERROR(Slot, "W-STABLE: payload changed before WREADY (WSTRB, WLAST)", m_axi_wstrb,
                     m_axi_wlast);
      end else if (m_axi_wvalid && `PTO_IS_X({m_axi_wlast, m_axi_wstrb})) begin
        unknown_w;
      end
      w_waits = m_axi_wvalid && !m_axi_wready;
      if (w_waits) begin
        w_held = m_axi_wdata;
        w_held_strobe = m_axi_wstrb;
        w_held_last = m_axi_wlast;
      end
      if (m_axi_wvalid && m_axi_wready) begin
        w_beats = w_beats + 9'd1;
        if (m_axi_wlast !== 1'b0) begin
          w_len[w_count] = w_beats;
          w_count = w_count + 8'd1;
          w_beats = 9'd0;
        end else if (w_beats > 9'd255 ||
                     (w_count != aw_count && w_count == w_checked &&
                      w_beats > {1'b0, aw_len[w_count]})) begin
          wrong_last(w_beats, w_count == aw_count ? 8'd255 : aw_len[w_count]);
          w_len[w_count] = {1'b0, aw_len[w_count]} + 9'd1;  // go on with the next burst
          w_count = w_count + 8'd1;
          w_beats = 9'd0;
        end
      end
      if (w_checked != w_count && w_checked != aw_count) begin
        if (w_len[w_checked] != {1'b0, aw_len[w_checked]} + 9'd1)
          wrong_last(w_len[w_checked], aw_len[w_checked]);
        w_checked = w_checked + 8'd1;
      end

      if (b_waits) begin
        if (!m_axi_bvalid)
          `PTO_ERROR(Slot, "B-HELD: BVALID fell before BREADY", 0, 0);
        else if (b !== b_held)
          `PTO_ERROR(Slot, "B-STABLE: payload changed before BREADY (BID, BRESP)", m_axi_bid,
                     m_axi_bresp);
      end
      b_waits = m_axi_bvalid && !m_axi_bready;
      if (b_waits) b_held = b;
      if (m_axi_bvalid && m_axi_bready) begin
        if (`PTO_IS_X(b)) unknown_b;
        if (b_count == aw_count) begin
          `PTO_ERROR(Slot, "B-UNASKED: response without a burst (BID)", m_axi_bid, 0);
        end else begin
          if (b_count == w_checked)
            `PTO_ERROR(Slot, "B-EARLY: response before the last beat of its burst (AWADDR, AWLEN)",
                       aw_addr[b_count], aw_len[b_count]);
          if (m_axi_bid != aw_id[b_count])
            `PTO_ERROR(Slot, "B-ID: BID is not AWID (AWID, BID)", aw_id[b_count], m_axi_bid);
          if (m_axi_bresp == 2'd1)
            `PTO_ERROR(Slot, "B-RESP: BRESP is EXOKAY (AWADDR)", aw_addr[b_count], 0);
          b_count = b_count + 8'd1;
        end
      end
      // A write is in flight from its offer to its B; an AR on the edge of the B comes after it.
      if (m_axi_arvalid && m_axi_arready) begin
        for (b_next = b_count; b_next != aw_count; b_next = b_next + 8'd1)
          if (overlap(m_axi_araddr, m_axi_arlen, aw_addr[b_next], aw_len[b_next]))
            `PTO_ERROR(Slot, "AR-OVER-WRITE: overlaps a write without its B (ARADDR, AWADDR)",
                       m_axi_araddr, aw_addr[b_next]);
        if (aw_waits && overlap(m_axi_araddr, m_axi_arlen, m_axi_awaddr, m_axi_awlen))
          `PTO_ERROR(Slot, "AR-OVER-WRITE: overlaps a write that is offered (ARADDR, AWADDR)",
                     m_axi_araddr, m_axi_awaddr);
      end
      if ({aw_count - b_count} > MaxOutstanding)
        `PTO_ERROR(Slot, "AW-LIMIT: too many write bursts outstanding (number, limit)",
                   {aw_count - b_count}, MaxOutstanding);
      if (done_valid && !done_waits_q) begin
        if (b_count != aw_count) `PTO(owes)(Slot, 1, 0, aw_addr[b_count]);
        else if (aw_waits) `PTO(owes)(Slot, 1, 0, m_axi_awaddr);
      end
      writes_q <= aw_count - b_count;
      data_open_q <= w_beats != 9'd0 || w_count != aw_count;
    end
  end

  // For pto_port_checker: a response on an edge counts on that edge.
  assign axi_offers = m_axi_arvalid || m_axi_awvalid || m_axi_wvalid;
  assign axi_reads_open = m_axi_arvalid ||
      (reads_q != 8'd0 &&
       !(reads_q == 8'd1 && m_axi_rvalid && m_axi_rready && m_axi_rlast));
  assign axi_writes_open = m_axi_awvalid || m_axi_wvalid || data_open_q ||
      (writes_q != 8'd0 && !(writes_q == 8'd1 && m_axi_bvalid && m_axi_bready));
endmodule

`default_nettype wire

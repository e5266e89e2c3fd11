// SPDX-License-Identifier: Apache-2.0
// Watches one slot's AXI4 manager and reports what docs/contract.md forbids: valid or payload that
// moves before its handshake, bursts other than INCR of full-width beats, a burst across 4 KiB, a
// changing ID, WLAST in the wrong place, more outstanding than agreed, a read of beats that a
// write in flight changes, valid in reset, X on control; and, of the memory, responses without a
// burst. Each message counts every time, and is printed the first times. Simulation only.
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
    output wire                   reads_open_o,   // read data are owed, or a read is offered
    output wire                   writes_open_o,  // writes are owed, under way or offered
    output wire                   offers_o,       // an address or data valid is up
    input  wire [    IdWidth-1:0] m_axi_arid,
    input  wire [  AddrWidth-1:0] m_axi_araddr,
    input  wire [            7:0] m_axi_arlen,
    input  wire [            2:0] m_axi_arsize,
    input  wire [            1:0] m_axi_arburst,
    input  wire                   m_axi_arvalid,
    input  wire                   m_axi_arready,
    input  wire [    IdWidth-1:0] m_axi_rid,
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
    input  wire                   m_axi_bvalid,
    input  wire                   m_axi_bready
);
  `include "pto_door.vh"
  // One process a direction, in the order in which things happen on an edge; skipped where nothing
  // can have happened, because Icarus pays for each statement.

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

  // --- reads ---

  wire [AddressBits-1:0] ar = {m_axi_arid, m_axi_araddr, m_axi_arlen, m_axi_arsize, m_axi_arburst};
  reg ar_waits;
  reg [AddressBits-1:0] ar_held;
  reg ar_known;  // an AR was seen, its ID holds for all
  reg [IdWidth-1:0] ar_first_id;
  reg [7:0] r_len[0:255];  // lengths of the bursts whose data are owed
  reg [7:0] r_write, r_read;
  reg [8:0] r_beats;  // seen of the oldest
  reg [7:0] reads_q;  // bursts outstanding

  initial ar_known = 1'b0;

  always @(posedge clk_i) begin
    if (!rst_ni) begin
      if (m_axi_arvalid) `PTO_ERROR(Slot, "ar: ARVALID in reset", 0, 0);
      if (`PTO_IS_X(m_axi_arvalid)) `PTO_ERROR(Slot, "ar: ARVALID is X in reset", 0, 0);
      ar_waits = 1'b0;
      r_write = 8'd0;
      r_read = 8'd0;
      r_beats = 9'd0;
      reads_q <= 8'd0;
    end else if (m_axi_arvalid !== 1'b0 || m_axi_rvalid || ar_waits ||
                 `PTO_IS_X(m_axi_rready)) begin
      if (`PTO_IS_X({m_axi_arvalid, m_axi_rready}))
        `PTO_ERROR(Slot, "ar, r: X on ARVALID or RREADY", m_axi_arvalid, m_axi_rready);
      if (ar_waits) begin
        if (!m_axi_arvalid)
          `PTO_ERROR(Slot, "ar: ARVALID fell before ARREADY", 0, 0);
        else if (ar != ar_held)
          `PTO_ERROR(Slot, "ar: payload changed before ARREADY (ARADDR, ARLEN)", m_axi_araddr,
                     m_axi_arlen);
      end
      ar_waits = m_axi_arvalid && !m_axi_arready;
      if (m_axi_arvalid) begin
        ar_held = ar;
        if (m_axi_arready) begin
          if (`PTO_IS_X(ar)) `PTO_ERROR(Slot, "ar: X in the payload", m_axi_araddr, m_axi_arlen);
          if (m_axi_arburst != 2'd1)
            `PTO_ERROR(Slot, "ar: burst is not INCR (ARADDR, ARBURST)", m_axi_araddr,
                       m_axi_arburst);
          if (m_axi_arsize != Size)
            `PTO_ERROR(Slot, "ar: beats are not full width (ARADDR, ARSIZE)", m_axi_araddr,
                       m_axi_arsize);
          if (crosses(m_axi_araddr[11:0], m_axi_arlen))
            `PTO_ERROR(Slot, "ar: burst crosses 4 KiB (ARADDR, ARLEN)", m_axi_araddr, m_axi_arlen);
          if (ar_known && m_axi_arid != ar_first_id)
            `PTO_ERROR(Slot, "ar: more than one ID (first, this)", ar_first_id, m_axi_arid);
          ar_known = 1'b1;
          ar_first_id = m_axi_arid;
          r_len[r_write] = m_axi_arlen;
          r_write = r_write + 8'd1;
        end
      end
      if (m_axi_rvalid && m_axi_rready) begin
        r_beats = r_beats + 9'd1;
        if (r_write == r_read) begin
          `PTO_ERROR(Slot, "r: data without a burst", 0, 0);
        end else if (m_axi_rlast) begin
          if (r_beats != {1'b0, r_len[r_read]} + 9'd1)
            `PTO_ERROR(Slot, "r: RLAST in the wrong beat (beats, ARLEN)", r_beats, r_len[r_read]);
          if (m_axi_rid != ar_first_id)
            `PTO_ERROR(Slot, "r: wrong ID (ARID, RID)", ar_first_id, m_axi_rid);
          r_read = r_read + 8'd1;
          r_beats = 9'd0;
        end
      end
      if ({r_write - r_read} > MaxOutstanding)
        `PTO_ERROR(Slot, "ar: too many bursts outstanding (number, limit)", {r_write - r_read},
                   MaxOutstanding);
      reads_q <= r_write - r_read;
    end
  end

  // --- writes ---

  wire [AddressBits-1:0] aw = {m_axi_awid, m_axi_awaddr, m_axi_awlen, m_axi_awsize, m_axi_awburst};
  reg aw_waits;
  reg [AddressBits-1:0] aw_held;
  reg aw_known;
  reg [IdWidth-1:0] aw_first_id;
  reg w_waits, w_held_last;
  reg [DataWidth-1:0] w_held;
  reg [DataWidth/8-1:0] w_held_strobe;
  reg [7:0] aw_len[0:255];  // of bursts whose AW was taken
  reg [AddrWidth-1:0] aw_addr[0:255];
  reg [8:0] w_len[0:255];   // beats of bursts whose WLAST was taken
  reg [7:0] aw_count, w_count, w_checked, b_count;  // modulo 256
  reg [8:0] w_beats;  // of the burst under way
  reg [7:0] writes_q;  // bursts outstanding
  reg data_open_q;     // AW and W do not match yet
  reg [7:0] b_next;    // a burst whose B has not come

  initial aw_known = 1'b0;

  always @(posedge clk_i) begin
    if (!rst_ni) begin
      if (m_axi_awvalid) `PTO_ERROR(Slot, "aw: AWVALID in reset", 0, 0);
      if (m_axi_wvalid) `PTO_ERROR(Slot, "w: WVALID in reset", 0, 0);
      if (`PTO_IS_X({m_axi_awvalid, m_axi_wvalid}))
        `PTO_ERROR(Slot, "aw, w: AWVALID or WVALID is X in reset", 0, 0);
      aw_waits = 1'b0;
      w_waits = 1'b0;
      aw_count = 8'd0;
      w_count = 8'd0;
      w_checked = 8'd0;
      b_count = 8'd0;
      w_beats = 9'd0;
      writes_q <= 8'd0;
      data_open_q <= 1'b0;
    end else if (m_axi_awvalid !== 1'b0 || m_axi_wvalid !== 1'b0 || m_axi_bvalid || aw_waits ||
                 w_waits || `PTO_IS_X(m_axi_bready) || (m_axi_arvalid && writes_q != 8'd0)) begin
      if (`PTO_IS_X({m_axi_awvalid, m_axi_wvalid, m_axi_bready}))
        `PTO_ERROR(Slot, "aw, w, b: X on AWVALID, WVALID or BREADY", m_axi_awvalid, m_axi_wvalid);
      if (aw_waits) begin
        if (!m_axi_awvalid)
          `PTO_ERROR(Slot, "aw: AWVALID fell before AWREADY", 0, 0);
        else if (aw != aw_held)
          `PTO_ERROR(Slot, "aw: payload changed before AWREADY (AWADDR, AWLEN)", m_axi_awaddr,
                     m_axi_awlen);
      end
      aw_waits = m_axi_awvalid && !m_axi_awready;
      if (m_axi_awvalid) begin
        aw_held = aw;
        if (m_axi_awready) begin
          if (`PTO_IS_X(aw)) `PTO_ERROR(Slot, "aw: X in the payload", m_axi_awaddr, m_axi_awlen);
          if (m_axi_awburst != 2'd1)
            `PTO_ERROR(Slot, "aw: burst is not INCR (AWADDR, AWBURST)", m_axi_awaddr,
                       m_axi_awburst);
          if (m_axi_awsize != Size)
            `PTO_ERROR(Slot, "aw: beats are not full width (AWADDR, AWSIZE)", m_axi_awaddr,
                       m_axi_awsize);
          if (crosses(m_axi_awaddr[11:0], m_axi_awlen))
            `PTO_ERROR(Slot, "aw: burst crosses 4 KiB (AWADDR, AWLEN)", m_axi_awaddr, m_axi_awlen);
          if (aw_known && m_axi_awid != aw_first_id)
            `PTO_ERROR(Slot, "aw: more than one ID (first, this)", aw_first_id, m_axi_awid);
          aw_known = 1'b1;
          aw_first_id = m_axi_awid;
          aw_len[aw_count] = m_axi_awlen;
          aw_addr[aw_count] = m_axi_awaddr;
          aw_count = aw_count + 8'd1;
        end
      end

      if (w_waits) begin
        if (!m_axi_wvalid)
          `PTO_ERROR(Slot, "w: WVALID fell before WREADY", 0, 0);
        else if (m_axi_wlast != w_held_last || m_axi_wstrb != w_held_strobe ||
                 m_axi_wdata != w_held)
          `PTO_ERROR(Slot, "w: payload changed before WREADY (WSTRB, WLAST)", m_axi_wstrb,
                     m_axi_wlast);
      end
      w_waits = m_axi_wvalid && !m_axi_wready;
      if (w_waits) begin
        w_held = m_axi_wdata;
        w_held_strobe = m_axi_wstrb;
        w_held_last = m_axi_wlast;
      end
      if (m_axi_wvalid && m_axi_wready) begin
        if (`PTO_IS_X({m_axi_wlast, m_axi_wstrb}))
          `PTO_ERROR(Slot, "w: X on WLAST or WSTRB", m_axi_wlast, m_axi_wstrb);
        w_beats = w_beats + 9'd1;
        if (m_axi_wlast) begin
          w_len[w_count] = w_beats;
          w_count = w_count + 8'd1;
          w_beats = 9'd0;
        end else if (w_beats > 9'd255 ||
                     (w_count != aw_count && w_count == w_checked &&
                      w_beats > {1'b0, aw_len[w_count]})) begin
          `PTO_ERROR(Slot, "w: no WLAST on the last beat (beats, AWLEN)", w_beats,
                     aw_len[w_count]);
          w_len[w_count] = {1'b0, aw_len[w_count]} + 9'd1;  // go on with the next burst
          w_count = w_count + 8'd1;
          w_beats = 9'd0;
        end
      end
      if (w_checked != w_count && w_checked != aw_count) begin
        if (w_len[w_checked] != {1'b0, aw_len[w_checked]} + 9'd1)
          `PTO_ERROR(Slot, "w: WLAST in the wrong beat (beats, AWLEN)", w_len[w_checked],
                     aw_len[w_checked]);
        w_checked = w_checked + 8'd1;
      end

      if (m_axi_bvalid && m_axi_bready) begin
        if (b_count == aw_count)
          `PTO_ERROR(Slot, "b: response without a burst", 0, 0);
        else
          b_count = b_count + 8'd1;
        if (m_axi_bid != aw_first_id)
          `PTO_ERROR(Slot, "b: wrong ID (AWID, BID)", aw_first_id, m_axi_bid);
      end
      // A write is in flight from its offer to its B; an AR on the edge of the B comes after it.
      if (m_axi_arvalid && m_axi_arready) begin
        for (b_next = b_count; b_next != aw_count; b_next = b_next + 8'd1)
          if (overlap(m_axi_araddr, m_axi_arlen, aw_addr[b_next], aw_len[b_next]))
            `PTO_ERROR(Slot, "ar: overlaps a write without its B (ARADDR, AWADDR)", m_axi_araddr,
                       aw_addr[b_next]);
        if (aw_waits && overlap(m_axi_araddr, m_axi_arlen, m_axi_awaddr, m_axi_awlen))
          `PTO_ERROR(Slot, "ar: overlaps a write that is offered (ARADDR, AWADDR)", m_axi_araddr,
                     m_axi_awaddr);
      end
      if ({aw_count - b_count} > MaxOutstanding)
        `PTO_ERROR(Slot, "aw: too many bursts outstanding (number, limit)", {aw_count - b_count},
                   MaxOutstanding);
      writes_q <= aw_count - b_count;
      data_open_q <= w_beats != 9'd0 || w_count != aw_count;
    end
  end

  // What pto_port_checker sees on an edge: a response on this edge already counts as there.
  assign offers_o = m_axi_arvalid || m_axi_awvalid || m_axi_wvalid;
  assign reads_open_o = m_axi_arvalid ||
      (reads_q != 8'd0 &&
       !(reads_q == 8'd1 && m_axi_rvalid && m_axi_rready && m_axi_rlast));
  assign writes_open_o = m_axi_awvalid || m_axi_wvalid || data_open_q ||
      (writes_q != 8'd0 && !(writes_q == 8'd1 && m_axi_bvalid && m_axi_bready));
endmodule

`default_nettype wire

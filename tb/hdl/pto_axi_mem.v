// SPDX-License-Identifier: Apache-2.0
// AXI4 memory subordinate of one slot: a port of the GM that all slots share.
// Throughput: one beat a clock in each direction at any latency, read bursts back to back, W taken
// without waiting for AW (unless `w_after_aw`), so it adds no bubble. A channel of
// `after_valid_i` has READY low until VALID was seen, and again after each handshake.
// Latency: first R (B) is valid `axi_*_latency` clocks after the AR (last of AW and W) handshake,
// and up to `axi_*_jitter` more, in order.
// Errors: SLVERR and DECERR come from the backends (injected faults, addresses past the limit).
// Limits: INCR bursts of full-width beats, 64 outstanding in each direction; in order.
//   clk_i    _/-\_/-\_/-\_/-\_/-\_
//   arvalid  ___/---\_____________    latency 2
//   rvalid   ___________/-------\_
// Simulation only.
`default_nettype none
`timescale 1ns / 1ps

module pto_axi_mem #(
    parameter Slot = 0,         // number of the slot in the mailbox
    parameter AddrWidth = 40,   // bits of an address
    parameter DataWidth = 256,  // bits of data: 128, 256 or 512
    parameter IdWidth = 4       // bits of an ID
) (
    input  wire                   clk_i,
    input  wire                   rst_ni,
    input  wire [           31:0] cycle,              // clocks so far
    input  wire [           31:0] seed,               // of the random stalls
    input  wire                   reseed,             // take the seed
    input  wire [            9:0] axi_read_latency,   // clocks, 1 or more
    input  wire [            9:0] axi_write_latency,  // clocks, 1 or more
    input  wire [            7:0] axi_read_jitter,    // most extra clocks of a burst
    input  wire [            7:0] axi_write_jitter,   // most extra clocks of a B
    input  wire [            7:0] stall_ar,           // stalls in 256 clocks, each channel
    input  wire [            7:0] stall_r,
    input  wire [            7:0] stall_aw,
    input  wire [            7:0] stall_w,
    input  wire [            7:0] stall_b,
    input  wire [            6:0] max_outstanding,  // bursts taken in each direction, 1 to 64
    input  wire                   w_after_aw,       // take W only for an AW that was taken
    input  wire [            2:0] after_valid_i,    // READY waits for VALID: AR, AW, W
    output reg  [            7:0] reads,            // bursts taken and not finished
    output wire [           15:0] read_beats,       // their open beats, except one on offer
    output reg  [           31:0] r_stalls,         // clocks in which a due R or B was held back
    output reg  [           31:0] b_stalls,
    input  wire [    IdWidth-1:0] m_axi_arid,
    input  wire [  AddrWidth-1:0] m_axi_araddr,
    input  wire [            7:0] m_axi_arlen,
    input  wire                   m_axi_arvalid,
    output reg                    m_axi_arready,
    output reg  [    IdWidth-1:0] m_axi_rid,
    output reg  [  DataWidth-1:0] m_axi_rdata,
    output reg  [            1:0] m_axi_rresp,
    output reg                    m_axi_rlast,
    output reg                    m_axi_rvalid,
    input  wire                   m_axi_rready,
    input  wire [    IdWidth-1:0] m_axi_awid,
    input  wire [  AddrWidth-1:0] m_axi_awaddr,
    input  wire [            7:0] m_axi_awlen,
    input  wire                   m_axi_awvalid,
    output reg                    m_axi_awready,
    input  wire [  DataWidth-1:0] m_axi_wdata,
    input  wire [DataWidth/8-1:0] m_axi_wstrb,
    input  wire                   m_axi_wlast,
    input  wire                   m_axi_wvalid,
    output reg                    m_axi_wready,
    output reg  [    IdWidth-1:0] m_axi_bid,
    output reg  [            1:0] m_axi_bresp,
    output reg                    m_axi_bvalid,
    input  wire                   m_axi_bready
);
  `include "pto_backend.vh"
  `include "pto_random.vh"
  // Each direction is one behavioural process: a burst taken on an edge can be answered on it. It
  // is skipped where nothing can change, because every statement costs time in Icarus.

  localparam Bytes = DataWidth / 8;
  localparam [AddrWidth-1:0] AlignMask = ~(Bytes - 1);

  // --- reads ---

  reg [AddrWidth-1:0] ar_addr[0:63];  // bursts taken and not begun
  reg [7:0] ar_len[0:63];
  reg [IdWidth-1:0] ar_id[0:63];
  reg [31:0] ar_due[0:63];  // first cycle that may present R at its edge
  reg [6:0] ar_write, ar_read;
  reg [AddrWidth-1:0] beat_addr;  // of the burst under way
  reg [8:0] beats_left;
  reg [31:0] read_random, read_jitter;
  reg [15:0] beats_queued;  // of the bursts that have not begun
  reg [`PTO_BACKEND_BITS(DataWidth)-1:0] word;
  integer read_resp;

  wire read_stalls = |{stall_ar, stall_r};

  initial begin
    m_axi_arready = 1'b0;
    m_axi_rvalid = 1'b0;
    m_axi_rlast = 1'b0;
    read_random = 32'd1;
    read_jitter = 32'd1;
    r_stalls = 32'd0;
    beats_left = 9'd0;
    beats_queued = 16'd0;
    reads = 8'd0;
  end

  assign read_beats = {7'd0, beats_left} + beats_queued;

  always @(posedge clk_i) begin
    if (reseed) begin
      read_random = pto_seed(seed, Slot * 8 + 2);
      read_jitter = pto_seed(seed, Slot * 8 + 66);
    end
    if (!rst_ni) begin
      m_axi_arready <= 1'b0;
      m_axi_rvalid <= 1'b0;
      ar_write = 7'd0;
      ar_read = 7'd0;
      beats_left = 9'd0;
      beats_queued = 16'd0;
      reads = 8'd0;
    end else if (m_axi_arvalid || m_axi_rvalid || ar_read != ar_write || beats_left != 9'd0 ||
                 read_stalls || m_axi_arready == after_valid_i[0]) begin
      if (read_stalls) read_random = pto_next(read_random);
      if (m_axi_arvalid && m_axi_arready) begin
        `PTO(axi_ar)(Slot);
        ar_addr[ar_write[5:0]] = m_axi_araddr & AlignMask;
        ar_len[ar_write[5:0]] = m_axi_arlen;
        ar_id[ar_write[5:0]] = m_axi_arid;
        ar_due[ar_write[5:0]] = cycle + {22'd0, axi_read_latency} - 32'd1;
        if (axi_read_jitter != 8'd0) begin
          read_jitter = pto_next(read_jitter);
          ar_due[ar_write[5:0]] = ar_due[ar_write[5:0]] + pto_uniform(read_jitter, axi_read_jitter);
        end
        ar_write = ar_write + 7'd1;
        reads = reads + 8'd1;
        beats_queued = beats_queued + {8'd0, m_axi_arlen} + 16'd1;
      end
      if (m_axi_rvalid && m_axi_rready) begin
        if (m_axi_rlast) reads = reads - 8'd1;
        if (m_axi_rresp[1]) `PTO(hit)(Slot, 2);
        m_axi_rvalid <= 1'b0;
        m_axi_rresp <= 2'b11;  // ignored without rvalid
        m_axi_rlast <= 1'b1;
      end
      if (!m_axi_rvalid || m_axi_rready) begin
        if (beats_left == 9'd0 && ar_read != ar_write &&
            $signed(cycle - ar_due[ar_read[5:0]]) >= 0) begin
          beat_addr = ar_addr[ar_read[5:0]];
          beats_left = {1'b0, ar_len[ar_read[5:0]]} + 9'd1;
          beats_queued = beats_queued - {7'd0, beats_left};
          m_axi_rid <= ar_id[ar_read[5:0]];
          ar_read = ar_read + 7'd1;
        end
        if (beats_left == 9'd0) begin
          // Nothing is due.
        end else if (stall_r != 8'd0 && read_random[7:0] < stall_r) begin
          r_stalls = r_stalls + 32'd1;
        end else begin
          read_resp = `PTO(gm_read)(Slot, beat_addr, Bytes, word);
          m_axi_rdata <= word[DataWidth-1:0];
          m_axi_rresp <= read_resp[1:0];
          m_axi_rlast <= beats_left == 9'd1;
          m_axi_rvalid <= 1'b1;
          beat_addr = beat_addr + Bytes;
          beats_left = beats_left - 9'd1;
        end
      end
      m_axi_arready <= reads < {1'b0, max_outstanding} &&
          (!after_valid_i[0] || (m_axi_arvalid && !m_axi_arready)) &&
          (stall_ar == 8'd0 || read_random[15:8] >= stall_ar);
    end
  end

  // --- writes: the C side matches data and addresses ---

  reg [31:0] b_due[0:63];
  reg [1:0] b_resp[0:63];
  reg [6:0] b_write, b_read;
  reg [IdWidth-1:0] aw_id[0:63];
  reg [5:0] aw_write;
  reg [6:0] writes;  // bursts after their AW, before their B
  reg [8:0] w_allowed;  // bursts after their AW, before their WLAST
  reg [31:0] write_random, write_jitter;
  integer write_done;  // 1 + response of a burst that is now complete

  wire write_stalls = |{stall_aw, stall_w, stall_b};

  initial begin
    m_axi_awready = 1'b0;
    m_axi_wready = 1'b0;
    m_axi_bvalid = 1'b0;
    write_random = 32'd1;
    write_jitter = 32'd1;
    b_stalls = 32'd0;
  end

  always @(posedge clk_i) begin
    if (reseed) begin
      write_random = pto_seed(seed, Slot * 8 + 3);
      write_jitter = pto_seed(seed, Slot * 8 + 67);
    end
    if (!rst_ni) begin
      m_axi_awready <= 1'b0;
      m_axi_wready <= 1'b0;
      m_axi_bvalid <= 1'b0;
      b_write = 7'd0;
      b_read = 7'd0;
      aw_write = 6'd0;
      writes = 7'd0;
      w_allowed = 9'd0;
    end else if (m_axi_awvalid || m_axi_wvalid || m_axi_bvalid || b_read != b_write ||
                 write_stalls || w_after_aw || m_axi_awready == after_valid_i[1] ||
                 m_axi_wready == after_valid_i[2]) begin
      if (write_stalls) write_random = pto_next(write_random);
      write_done = 0;
      if (m_axi_awvalid && m_axi_awready) begin
        write_done = `PTO(axi_aw)(Slot, m_axi_awaddr, m_axi_awlen, Bytes);
        aw_id[aw_write] = m_axi_awid;
        aw_write = aw_write + 6'd1;
        writes = writes + 7'd1;
        w_allowed = w_allowed + 9'd1;
      end
      if (m_axi_wvalid && m_axi_wready) begin
        // At most one of the two completes a burst.
        write_done = write_done | `PTO(axi_w)(Slot, Bytes, m_axi_wstrb, m_axi_wdata);
        if (m_axi_wlast) w_allowed = w_allowed - 9'd1;
      end
      if (write_done != 0) begin
        b_due[b_write[5:0]] = cycle + {22'd0, axi_write_latency} - 32'd1;
        if (axi_write_jitter != 8'd0) begin
          write_jitter = pto_next(write_jitter);
          b_due[b_write[5:0]] = b_due[b_write[5:0]] + pto_uniform(write_jitter, axi_write_jitter);
        end
        b_resp[b_write[5:0]] = write_done - 1;
        b_write = b_write + 7'd1;
      end
      if (m_axi_bvalid && m_axi_bready) begin
        `PTO(axi_b)(Slot);
        writes = writes - 7'd1;
        m_axi_bvalid <= 1'b0;
        m_axi_bresp <= 2'b11;  // ignored without bvalid
      end
      if ((!m_axi_bvalid || m_axi_bready) && b_read != b_write &&
          $signed(cycle - b_due[b_read[5:0]]) >= 0) begin
        if (stall_b != 8'd0 && write_random[7:0] < stall_b) begin
          b_stalls = b_stalls + 32'd1;
        end else begin
          m_axi_bvalid <= 1'b1;
          m_axi_bresp <= b_resp[b_read[5:0]];
          m_axi_bid <= aw_id[b_read[5:0]];
          b_read = b_read + 7'd1;
        end
      end
      m_axi_awready <= writes < max_outstanding &&
          (!after_valid_i[1] || (m_axi_awvalid && !m_axi_awready)) &&
          (stall_aw == 8'd0 || write_random[15:8] >= stall_aw);
      m_axi_wready <= (!w_after_aw || $signed(w_allowed) > 0) &&
          (!after_valid_i[2] || (m_axi_wvalid && !m_axi_wready)) &&
          (stall_w == 8'd0 || write_random[23:16] >= stall_w);
    end
  end
endmodule

`default_nettype wire

// SPDX-License-Identifier: Apache-2.0
//
// Adapter: the AXI4 writes of a block to GM, as the contract wants them: bursts of whole aligned
// bus words of one id, of at most MaxBeats, quiet in reset. The block may have another width, any
// ids, narrow and unaligned bursts (pto_axi_writes); a bus word without a byte to write is left
// out. A burst is issued when its words are there. err_o has each failed burst. After an error of
// a burst of the block no more of it is written, and while stop_i is high nothing is: give it
// failed_o of pto_commands, with one op in the block. bready is always 1. Throughput: one beat or
// one bus word per clock. Latency: last W beat of a burst to AW three clocks, B one. Limits: those
// of pto_axi_writes. Spec: docs/contract.md, m_axi rules and errors.
//
//   clk            _/~\_/~\_/~\_/~\_/~\_/~\_
//   wvalid_i       _/~~~\___________________     wlast_i; wready_o 1
//   m_axi_awvalid  _____________/~~~~~~~~~~~     until m_axi_awready
`default_nettype none
`include "pto_records.vh"

module pto_axi_to_gm #(
  parameter integer DataWidth      = 64,     // bits of the block's bus, 8 to 1024
  parameter integer IdWidth        = 1,      // bits of its ids
  parameter integer MaxBeats       = 16,     // longest burst, a power of two up to 128
  parameter integer GmDataWidth    = 256,    // bits of the AXI data bus
  parameter integer AxiIdWidth     = 4,      // bits of the AXI ids
  parameter integer NumOutstanding = 16      // AXI bursts in flight
) (
  input  wire                       clk_i,         // clock
  input  wire                       rst_ni,        // asynchronous reset, active low
  `include "pto_block_writes.vh"
  output wire [AxiIdWidth-1:0]      m_axi_awid,    // 0
  output wire [2:0]                 m_axi_awsize,  // bus width
  output wire [1:0]                 m_axi_awburst, // INCR
  `include "pto_axi_write_ports.vh"
  output wire [42:0]                err_o          // a failed burst: status, address; else 0
);
  localparam integer Bytes = GmDataWidth / 8;
  localparam integer Lane  = $clog2(Bytes);
  localparam [8:0]   MOST  = MaxBeats[8:0];

  generate
    if (MaxBeats < 1 || MaxBeats > 128 || (MaxBeats & (MaxBeats - 1)) != 0) begin : gen_bad
      pto_error_max_beats_must_be_a_power_of_two_from_1_to_128 u_error ();
    end
  endgenerate

  wire                       word_valid, word_ready, word_last;
  wire [3:0]                 word_id, fin_id_unused;
  wire [39:0]                word_addr;
  wire [Bytes-1:0]           word_be;
  wire [GmDataWidth-1:0]     word;
  wire [`PTO_NUM_ACTIVE-1:0] drop;
  wire                       fin_valid, joins_unused;
  wire pto_err_t             err;

  pto_axi_writes #(
    .DataWidth (DataWidth),
    .IdWidth   (IdWidth),
    .WordWidth (GmDataWidth)
  ) u_writes (
    .clk_i, .rst_ni, .awid_i, .awaddr_i, .awlen_i, .awsize_i, .awburst_i, .awvalid_i, .awready_o,
    .wdata_i, .wstrb_i, .wlast_i, .wvalid_i, .wready_o, .bid_o, .bresp_o, .bvalid_o, .bready_i,
    .stop_i, .err_o,
    .word_valid_o (word_valid),
    .word_ready_i (word_ready),
    .word_id_o    (word_id),
    .word_addr_o  (word_addr),
    .word_be_o    (word_be),
    .word_o       (word),
    .word_last_o  (word_last),
    .fin_valid_i  (fin_valid),
    .word_err_i   (err),
    .drop_o       (drop)
  );

  // ---- words to bursts: a run of words that write something ----
  reg  [39:0] start_q;
  reg  [8:0]  count_q;                       // words of the run so far
  wire        data_room, runs_room;
  wire        put    = word_valid && word_ready;
  wire        live   = word_be != {Bytes{1'b0}};
  wire [8:0]  count  = count_q + {8'd0, live};
  wire        closed = word_last || (live ? count == MOST : count_q != 9'd0);
  assign word_ready  = data_room && runs_room;

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) count_q <= 9'd0;
    else if (put) count_q <= closed ? 9'd0 : count;
  end

  always @(posedge clk_i) begin
    if (put && count_q == 9'd0) start_q <= word_addr;
  end

  wire             cmd_valid, cmd_ready, write_ready, lengths_room, go_valid, go_drop, sent;
  wire pto_burst_t cmd;

  pto_fifo #(
    .Width (`PTO_BURST_BITS),
    .Depth (4)
  ) u_runs (
    .clk_i, .rst_ni,
    .wr_valid_i (put && closed),
    .wr_ready_o (runs_room),
    .wr_data_i  ({count == 9'd0, word_last, word_id, (count_q == 9'd0) ? word_addr : start_q,
                  count}),
    .rd_valid_o (cmd_valid),
    .rd_ready_i (cmd_ready),
    .rd_data_o  (cmd)
  );
  assign cmd_ready = write_ready && lengths_room;

  pto_axi_write #(
    .NumOutstanding (NumOutstanding)
  ) u_write (
    .clk_i, .rst_ni,
    .m_axi_awaddr, .m_axi_awlen, .m_axi_awvalid, .m_axi_awready,
    .m_axi_bresp, .m_axi_bvalid, .m_axi_bready,
    .cmd_valid_i (cmd_valid && lengths_room),
    .cmd_ready_o (write_ready),
    .cmd_drop_i  (drop[cmd.id]),
    .cmd_joins_i (1'b0),
    .cmd_i       (cmd),
    .go_valid_o  (go_valid),
    .go_drop_o   (go_drop),
    .go_joins_o  (joins_unused),
    .go_ready_i  (sent && m_axi_wlast),
    .fin_valid_o (fin_valid),
    .fin_id_o    (fin_id_unused),
    .err_o       (err)
  );

  // ---- the words of a burst go out, or are dropped with it ----
  reg  [8:0] sent_q;
  wire [8:0] length;
  wire       data_valid_unused, length_valid_unused;
  assign     sent = go_valid && (go_drop || m_axi_wready);

  pto_fifo #(
    .Width (9),
    .Depth (4)
  ) u_lengths (
    .clk_i, .rst_ni,
    .wr_valid_i (cmd_valid && write_ready && !cmd.cut),
    .wr_ready_o (lengths_room),
    .wr_data_i  (cmd.beats),
    .rd_valid_o (length_valid_unused),       // there is one for each go
    .rd_ready_i (sent && m_axi_wlast),
    .rd_data_o  (length)
  );

  pto_fifo #(
    .Width (Bytes + GmDataWidth),
    .Depth ((MaxBeats < 16) ? 32 : 2 * MaxBeats),
    .Ram   (1)
  ) u_data (
    .clk_i, .rst_ni,
    .wr_valid_i (put && live),
    .wr_ready_o (data_room),
    .wr_data_i  ({word_be, word}),
    .rd_valid_o (data_valid_unused),         // a burst is issued when its words are there
    .rd_ready_i (sent),
    .rd_data_o  ({m_axi_wstrb, m_axi_wdata})
  );

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) sent_q <= 9'd1;
    else if (sent) sent_q <= m_axi_wlast ? 9'd1 : sent_q + 9'd1;
  end

  assign m_axi_wvalid  = go_valid && !go_drop;
  assign m_axi_wlast   = sent_q == length;
  assign m_axi_awid    = {AxiIdWidth{1'b0}};
  assign m_axi_awsize  = Lane[2:0];
  assign m_axi_awburst = 2'b01;

  wire unused = &{1'b0, fin_id_unused, joins_unused, data_valid_unused, length_valid_unused};
endmodule

`default_nettype wire

// SPDX-License-Identifier: Apache-2.0
//
// Writes the rows of a job over AXI4. Words of the source drop their bytes into a byte queue, beats
// take theirs out of it, so source and destination may have any alignment and width.
// Bursts are INCR of full beats, at most MaxBeats long, never across 4 KiB; at most NumBursts are
// in flight. One beat a clock. An error response is reported with the first byte of its burst.
// With abort no new burst begins; those that were offered end with strobes 0.
//
//   clk      _/~\_/~\_/~\_/~\_/~\_/~\_
//   awvalid  _/~~~~~~~\_______________
//   wvalid   _____/~~~~~~~~~~~~~~~\___     W does not wait for AWREADY
//   bvalid   _____________________/~~~     BREADY is always high
`default_nettype none

module reg_dma_writer #(
  parameter integer AddrWidth = 40,          // bits of a bus address
  parameter integer BusWidth  = 256,         // bits of the AXI data
  parameter integer MemWidth  = 256,         // bits of a source word
  parameter integer IdWidth   = 4,           // bits of the AXI IDs, which are 0
  parameter integer NumBursts = 4,           // bursts in flight, 1 to 128
  parameter integer MaxBeats  = 16,          // beats of a burst, MaxBeats * BusWidth / 8 <= 4096
  parameter integer LaneBits  = $clog2(MemWidth / 8)
) (
  input  wire                  clk,
  input  wire                  rst_n,
  input  wire                  start,
  input  wire [AddrWidth-1:0]  dst,
  input  wire [15:0]           row_len,
  input  wire [15:0]           rows,
  input  wire [AddrWidth-1:0]  dst_stride,
  input  wire                  abort,
  output wire                  idle,         // every burst has its response
  output wire                  error,        // the response on this clock is bad
  output wire                  error_decode, // DECERR, not SLVERR
  output wire [AddrWidth-1:0]  error_addr,
  input  wire                  word_valid,
  output wire                  word_ready,
  input  wire [MemWidth-1:0]   word_data,
  input  wire [LaneBits-1:0]   word_lane,
  input  wire [LaneBits:0]     word_bytes,
  output wire [IdWidth-1:0]    awid,
  output wire [AddrWidth-1:0]  awaddr,
  output wire [7:0]            awlen,
  output wire [2:0]            awsize,
  output wire [1:0]            awburst,
  output wire                  awvalid,
  input  wire                  awready,
  output wire [BusWidth-1:0]   wdata,
  output wire [BusWidth/8-1:0] wstrb,
  output wire                  wlast,
  output wire                  wvalid,
  input  wire                  wready,
  input  wire [1:0]            bresp,
  input  wire                  bvalid,
  output wire                  bready
);
  localparam integer BusBytes  = BusWidth / 8;
  localparam integer MemBytes  = MemWidth / 8;
  localparam integer OffBits   = $clog2(BusBytes);
  localparam integer HoldBytes = BusBytes + MemBytes;
  localparam integer HoldBits  = $clog2(HoldBytes + 1);
  localparam integer RingBits  = (NumBursts <= 2) ? 1 : $clog2(NumBursts);
  localparam integer MostBytes = MaxBeats * BusBytes;

  // ---- bursts of the rows ----
  reg [AddrWidth-1:0] row_q;
  reg [AddrWidth-1:0] pos_q;
  reg [15:0]          left_q;
  reg [15:0]          rows_q;
  reg [15:0]          len_q;
  reg [AddrWidth-1:0] stride_q;

  wire [12:0] offset   = {{(13 - OffBits){1'b0}}, pos_q[OffBits-1:0]};
  wire [12:0] page     = 13'd4096 - {1'b0, pos_q[11:0]};
  wire [12:0] most     = MostBytes[12:0] - offset;
  wire [12:0] limit    = (page < most) ? page : most;
  wire        row_ends = left_q <= {3'd0, limit};
  wire [12:0] bytes    = row_ends ? left_q[12:0] : limit;
  wire [12:0] last     = (offset + bytes - 13'd1) >> OffBits;
  wire [AddrWidth-1:0] next_row = row_q + stride_q;

  // ---- bursts offered, in progress and answered: a ring with three pointers ----
  reg [AddrWidth-1:0] addr_of  [0:(1 << RingBits)-1];
  reg [12:0]          bytes_of [0:(1 << RingBits)-1];
  reg [RingBits:0]    offered_q, begun_q, answered_q;
  reg                 awvalid_q;
  reg [AddrWidth-1:0] awaddr_q;
  reg [7:0]           awlen_q;

  wire [RingBits:0] open  = offered_q - answered_q;
  wire              offer = rows_q != 16'd0 && !abort && open < NumBursts[RingBits:0]
                         && (!awvalid_q || awready);

  wire [RingBits-1:0] offered  = offered_q[RingBits-1:0];
  wire [RingBits-1:0] begun    = begun_q[RingBits-1:0];
  wire [RingBits-1:0] answered = answered_q[RingBits-1:0];

  // ---- beats ----
  reg                active_q;               // a burst is in progress
  reg [OffBits-1:0]  lane_q;                 // first byte of the next beat
  reg [12:0]         todo_q;                 // bytes left of the burst
  reg [HoldBits-1:0] count_q;                // bytes in the queue
  reg                wvalid_q;

  wire [12:0]       room   = BusBytes[12:0] - {{(13 - OffBits){1'b0}}, lane_q};
  wire              ends   = todo_q <= room;
  wire [12:0]       take   = ends ? todo_q : room;
  wire              enough = {{(13 - HoldBits){1'b0}}, count_q} >= take;
  wire              beat   = active_q && (!wvalid_q || wready) && (enough || abort);
  wire              begins = (!active_q || (beat && ends)) && begun_q != offered_q;

  // ---- byte queue, the oldest byte lowest; bytes above the count are 0 ----
  reg [8*HoldBytes-1:0]  hold_q;
  reg [MemWidth-1:0]     fresh;
  wire [HoldBits-1:0]    taken  = (beat && !abort) ? take[HoldBits-1:0] : {HoldBits{1'b0}};
  wire [HoldBits-1:0]    kept   = count_q - taken;
  wire [8*HoldBytes-1:0] rest   = hold_q >> {taken, 3'b000};
  wire                   push   = word_valid && word_ready;
  wire [HoldBits:0]      filled = {1'b0, kept} + {{(HoldBits - LaneBits){1'b0}}, word_bytes};

  assign word_ready = filled <= HoldBytes[HoldBits:0] && !abort;

  integer k;
  always @* begin
    fresh = word_data >> {word_lane, 3'b000};
    for (k = 0; k < MemBytes; k = k + 1)
      if (k[LaneBits:0] >= word_bytes) fresh[8*k +: 8] = 8'd0;
  end

  // ---- beat on the bus ----
  reg [BusWidth-1:0] wdata_q;
  reg [BusBytes-1:0] wstrb_q;
  reg                wlast_q;
  reg [BusBytes-1:0] strobes;
  integer j;
  always @* begin
    for (j = 0; j < BusBytes; j = j + 1)
      strobes[j] = !abort && j[12:0] >= {{(13 - OffBits){1'b0}}, lane_q}
                && j[12:0] < {{(13 - OffBits){1'b0}}, lane_q} + take;
  end

  always @(posedge clk or negedge rst_n) begin
    if (!rst_n) begin
      rows_q     <= 16'd0;
      awvalid_q  <= 1'b0;
      offered_q  <= {(RingBits + 1){1'b0}};
      begun_q    <= {(RingBits + 1){1'b0}};
      answered_q <= {(RingBits + 1){1'b0}};
      active_q   <= 1'b0;
      wvalid_q   <= 1'b0;
      count_q    <= {HoldBits{1'b0}};
    end else begin
      if (start) rows_q <= rows;
      else if (offer && row_ends) rows_q <= rows_q - 16'd1;
      if (offer) awvalid_q <= 1'b1;
      else if (awready) awvalid_q <= 1'b0;
      if (offer) offered_q <= offered_q + 1'b1;
      if (begins) begun_q <= begun_q + 1'b1;
      if (bvalid) answered_q <= answered_q + 1'b1;
      if (begins) active_q <= 1'b1;
      else if (beat && ends) active_q <= 1'b0;
      if (beat) wvalid_q <= 1'b1;
      else if (wready) wvalid_q <= 1'b0;
      if (start) count_q <= {HoldBits{1'b0}};
      else count_q <= push ? filled[HoldBits-1:0] : kept;
    end
  end

  always @(posedge clk) begin
    if (start) begin
      row_q    <= dst;
      pos_q    <= dst;
      left_q   <= row_len;
      len_q    <= row_len;
      stride_q <= dst_stride;
      hold_q   <= {(8 * HoldBytes){1'b0}};
    end else begin
      if (offer) begin
        row_q  <= row_ends ? next_row : row_q;
        pos_q  <= row_ends ? next_row : pos_q + {{(AddrWidth - 13){1'b0}}, bytes};
        left_q <= row_ends ? len_q : left_q - {3'd0, bytes};
      end
      hold_q <= push ? rest | ({{(8 * BusBytes){1'b0}}, fresh} << {kept, 3'b000}) : rest;
    end
    if (offer) begin
      awaddr_q          <= {pos_q[AddrWidth-1:OffBits], {OffBits{1'b0}}};
      awlen_q           <= last[7:0];
      addr_of[offered]  <= pos_q;
      bytes_of[offered] <= bytes;
    end
    if (begins) begin
      lane_q <= addr_of[begun][OffBits-1:0];
      todo_q <= bytes_of[begun];
    end else if (beat) begin
      lane_q <= {OffBits{1'b0}};
      todo_q <= todo_q - take;
    end
    if (beat) begin
      wdata_q <= hold_q[BusWidth-1:0] << {lane_q, 3'b000};
      wstrb_q <= strobes;
      wlast_q <= ends;
    end
  end

  assign idle         = (rows_q == 16'd0 || abort) && open == {(RingBits + 1){1'b0}};
  assign error        = bvalid && bresp[1];
  assign error_decode = bresp[0];
  assign error_addr   = addr_of[answered];
  assign awid         = {IdWidth{1'b0}};
  assign awaddr       = awaddr_q;
  assign awlen        = awlen_q;
  assign awsize       = OffBits[2:0];
  assign awburst      = 2'b01;
  assign awvalid      = awvalid_q;
  assign wdata        = wdata_q;
  assign wstrb        = wstrb_q;
  assign wlast        = wlast_q;
  assign wvalid       = wvalid_q;
  assign bready       = 1'b1;

  wire unused = &{1'b0, last[12:8]};
endmodule

`default_nettype wire

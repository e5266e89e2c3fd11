// SPDX-License-Identifier: Apache-2.0
//
// Takes the AXI4 reads of a block: each burst becomes a row of bytes to read (row_o), and the words
// of the rows become its beats. Any size up to the bus, any alignment, any ids, and buses wider and
// narrower than a word; beats come in the order of the bursts. Beats of a burst with a failed word
// have its response. Bursts that are not legal, or not INCR, fail (pto_axi_bursts). Throughput: one
// beat or one word per clock. Latency: word to R one clock. Limits: 16 bursts; DataWidth 8 to
// 1024; WordWidth 128, 256 or 512. Spec: AMBA AXI4.
//
//   clk         _/~\_/~\_/~\_/~\_/~\_
//   arvalid     _/~~~\_______________     arready with room for the burst and row_ready
//   row_valid   _/~~~\_______________
//   word_valid  _________/~~~\_______
//   rvalid      _____________/~~~~~~~     until rready
`default_nettype none
`include "pto_records.vh"

module pto_axi_reads #(
  parameter integer DataWidth = 64,          // bits of the block's bus
  parameter integer IdWidth   = 1,           // bits of its ids
  parameter integer WordWidth = 256          // bits of a word
) (
  input  wire                       clk_i,        // clock
  input  wire                       rst_ni,       // asynchronous reset, active low
  `include "pto_block_reads.vh"
  output wire                       row_valid_o,  // bytes to read
  input  wire                       row_ready_i,  // they are taken
  output wire [3:0]                 row_id_o,     // number of the burst
  output wire [39:0]                row_addr_o,   // first byte
  output wire [15:0]                row_len_o,    // bytes, at least 1
  input  wire                       word_valid_i, // a word of the oldest row
  output wire                       word_ready_o, // it is taken
  input  wire [WordWidth-1:0]       word_i,       // the word
  input  wire pto_err_t             word_err_i,   // a word that will come has an error
  output wire [`PTO_NUM_ACTIVE-1:0] drop_o,       // per burst: read no more of it
  output wire [42:0]                err_o         // a failed word: status, address; else 0
);
  localparam integer WordLane = $clog2(WordWidth / 8);
  localparam integer Parts    = (DataWidth > WordWidth) ? DataWidth / WordWidth : 1;
  localparam integer Copies   = (WordWidth > DataWidth) ? WordWidth / DataWidth : 1;

  // ---- bursts to rows ----
  wire                       room, open, row_ready;
  wire [`PTO_NUM_ACTIVE-1:0] failed, decode;
  assign arready_o  = room && row_ready;
  assign row_addr_o = araddr_i;
  assign drop_o     = failed | {`PTO_NUM_ACTIVE{stop_i}};

  pto_axi_bursts #(
    .Failed    (`PTO_ST_RD_SLVERR),
    .DataWidth (DataWidth)
  ) u_numbers (
    .clk_i, .rst_ni, .row_valid_o, .row_ready_i, .row_id_o, .row_len_o, .err_o,
    .valid_i  (arvalid_i && room),
    .ready_o  (row_ready),
    .addr_i   (araddr_i),
    .len_i    (arlen_i),
    .size_i   (arsize_i),
    .burst_i  (arburst_i),
    .err_i    (word_err_i),
    .drop_o   (failed),
    .decode_o (decode)
  );

  // ---- the burst whose beats come ----
  wire [IdWidth-1:0] rid;
  wire [3:0]         slot;
  wire [6:0]         first;
  wire [2:0]         size;
  wire [7:0]         last;
  wire               step, burst_end;

  pto_fifo #(
    .Width (IdWidth + 4 + 7 + 3 + 8),
    .Depth (`PTO_NUM_ACTIVE)
  ) u_bursts (
    .clk_i, .rst_ni,
    .wr_valid_i (arvalid_i && arready_o),
    .wr_ready_o (room),
    .wr_data_i  ({arid_i, row_id_o, araddr_i[6:0], arsize_i, arlen_i}),
    .rd_valid_o (open),
    .rd_ready_i (step && burst_end),
    .rd_data_o  ({rid, slot, first, size, last})
  );

  // A step is a whole beat, or a word of a beat that is wider.
  reg        begun_q;
  reg  [6:0] place_q;                        // of the next step, modulo 128 bytes
  reg  [7:0] beat_q;
  wire [6:0] place     = begun_q ? place_q : first;
  wire [2:0] unit      = (size < WordLane[2:0]) ? size : WordLane[2:0];
  wire [7:0] next      = ({1'b0, place} >> unit << unit) + (8'd1 << unit);
  wire       beat_end  = (next[6:0] & ~(7'h7F << size)) == 7'd0;
  wire       word_end  = next[WordLane-1:0] == {WordLane{1'b0}};
  assign     burst_end = beat_end && beat_q == last;
  assign     step      = open && word_valid_i && (!beat_end || !rvalid_o || rready_i);
  assign word_ready_o  = step && (word_end || burst_end);

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      begun_q  <= 1'b0;
      beat_q   <= 8'd0;
      rvalid_o <= 1'b0;
    end else begin
      if (step) begun_q <= !burst_end;
      if (step && beat_end) beat_q <= burst_end ? 8'd0 : beat_q + 8'd1;
      if (step && beat_end) rvalid_o <= 1'b1;
      else if (rready_i) rvalid_o <= 1'b0;
    end
  end

  always @(posedge clk_i) begin
    if (step) place_q <= next[6:0];
    if (step && beat_end) begin
      rid_o   <= rid;
      rlast_o <= burst_end;
      rresp_o <= {drop_o[slot], decode[slot]};
    end
  end

  // ---- lanes ----
  generate
    if (Parts > 1) begin : gen_gather
      // The first word of a beat goes to all lanes: none is undefined.
      localparam integer PartBits = $clog2(Parts);
      wire [PartBits-1:0]  part = place[WordLane+:PartBits];
      reg                  first_q;
      reg  [DataWidth-1:0] so_far_q, gathered;
      integer k;
      always @*
        for (k = 0; k < Parts; k = k + 1)
          gathered[k*WordWidth +: WordWidth] = (first_q || part == k[PartBits-1:0])
              ? word_i : so_far_q[k*WordWidth +: WordWidth];

      always @(posedge clk_i or negedge rst_ni)
        if (!rst_ni) first_q <= 1'b1;
        else if (step) first_q <= beat_end;

      always @(posedge clk_i) begin
        if (step) so_far_q <= gathered;
        if (step && beat_end) rdata_o <= gathered;
      end
    end else if (Copies > 1) begin : gen_select
      wire [$clog2(Copies)-1:0] part = place[WordLane-1:WordLane-$clog2(Copies)];
      always @(posedge clk_i)
        if (step && beat_end) rdata_o <= word_i[part*DataWidth +: DataWidth];
    end else begin : gen_same
      always @(posedge clk_i)
        if (step && beat_end) rdata_o <= word_i;
    end
  endgenerate

  wire unused = &{1'b0, next[7]};
endmodule

`default_nettype wire

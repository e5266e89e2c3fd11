// SPDX-License-Identifier: Apache-2.0
//
// Last stage before the W channel: combines the words of atomic ops, element by element, with the
// old values in GM, passes others, and drops those of cancelled bursts. Only groups of 4 bytes with
// a strobe are evaluated. The first word of a burst that joins the one before has no beat: it lies
// in the bus word of the last word, whose old value is kept, and updated when a word leaves on W.
// The word waits while one in the stages writes a byte of it; elements are aligned (DMA-L16).
// Throughput: one word per clock; one per five clocks where each overlaps the one it joins.
// Latency: four clocks, or one for a plain word when the stages before the W channel are empty.
// Spec: fixpipe.md section 9.
//
//   clk         _/~\_/~\_/~\_/~\_/~\_/~\_/~\_
//   word_valid  _/~~~~~~~\___________________     atomic: waits for its beat
//   beat_valid  _____/~~~\___________________
//   wvalid      _____________________/~~~\___     stays until wready
`default_nettype none
`include "pto_records.vh"

module pto_gm_merge #(
  parameter integer DataWidth = 256          // bits of the AXI data bus
) (
  input  wire                   clk_i,         // clock
  input  wire                   rst_ni,        // asynchronous reset, active low
  input  wire                   word_valid_i,  // a word is there
  output wire                   word_ready_o,  // it is taken
  input  wire [DataWidth-1:0]   word_i,        // the word
  input  wire [DataWidth/8-1:0] word_strb_i,   // bytes to write
  input  wire                   word_last_i,   // last of its burst
  input  wire pto_atomic_t      word_update_i, // its atomic update
  input  wire                   go_valid_i,    // it is decided what happens to the burst
  input  wire                   go_drop_i,     // its words are dropped
  input  wire                   go_joins_i,    // it joins the burst before
  output wire                   go_ready_o,    // its last word has been taken
  input  wire                   beat_valid_i,  // what GM held is there
  output wire                   beat_ready_o,  // it is taken
  input  wire [DataWidth-1:0]   beat_i,        // what GM held
  output wire                   m_axi_wvalid,  // word offered
  input  wire                   m_axi_wready,  // word taken
  output wire [DataWidth-1:0]   m_axi_wdata,   // word
  output wire [DataWidth/8-1:0] m_axi_wstrb,   // byte strobes
  output wire                   m_axi_wlast    // last word of the burst
);
  localparam integer Bytes = DataWidth / 8;

  // Stages 0 to 3; stage 3 is the W channel.
  reg [3:0]           valid_q;
  reg [3:0]           last_q;                // last word of its burst
  reg [3:0]           chain_q;               // writes the bus word of old_q
  reg [4*Bytes-1:0]   strb_q;
  reg                 first_q;               // the next word is the first of its burst
  reg [DataWidth-1:0] old_q;                 // last bus word, without the words in the stages
  integer              k, b;

  wire       atomic = word_update_i.kind != 3'd0;
  wire       joins  = go_joins_i && first_q;
  wire       reads  = atomic && !joins;
  wire       pass   = !atomic && valid_q[2:0] == 3'd0;     // to stage 3 at once
  wire [3:0] open   = {4{m_axi_wready}} | {!valid_q[3], valid_q[3:2] != 2'b11,
                                           valid_q[3:1] != 3'b111, valid_q != 4'b1111};
  wire       room   = pass ? open[3] : open[0];

  reg [Bytes-1:0] written;                   // bytes that words in the stages write to old_q
  always @(*) begin
    written = {Bytes{1'b0}};
    for (k = 0; k < 4; k = k + 1)
      if (valid_q[k] && chain_q[k]) written = written | strb_q[k*Bytes +: Bytes];
  end

  wire       old_ready = joins ? (word_strb_i & written) == {Bytes{1'b0}} : !reads || beat_valid_i;
  wire       take   = word_valid_i && go_valid_i && (go_drop_i || room) && old_ready;
  wire       send   = take && !go_drop_i;
  wire [3:0] moves  = open & {valid_q[2] || (send && pass), valid_q[1:0], send && !pass};

  wire [4*Bytes-1:0] strb_in = {pass ? word_strb_i : strb_q[2*Bytes +: Bytes],
                                strb_q[2*Bytes-1:0], word_strb_i};
  wire [3:0] last_in  = {pass ? word_last_i : last_q[2], last_q[1:0], word_last_i};
  wire [3:0] chain_in = {send && reads ? 3'd0 : {!pass && chain_q[2], chain_q[1:0]}, atomic};

  assign word_ready_o = take;
  assign go_ready_o   = take && word_last_i;
  assign beat_ready_o = take && reads;

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q <= 4'd0;
      first_q <= 1'b1;
    end else begin
      valid_q <= moves | (valid_q & ~open);
      if (take) first_q <= word_last_i;
    end
  end

  always @(posedge clk_i) begin
    for (k = 0; k < 4; k = k + 1)
      if (moves[k]) begin
        strb_q[k*Bytes +: Bytes] <= strb_in[k*Bytes +: Bytes];
        last_q[k]                <= last_in[k];
      end
    chain_q <= (moves & chain_in) | (send && reads ? 4'd0 : ~moves & chain_q);
    if (send && reads) old_q <= beat_i;
    else if (m_axi_wvalid && m_axi_wready && chain_q[3])
      for (b = 0; b < Bytes; b = b + 1)
        if (m_axi_wstrb[b]) old_q[8*b +: 8] <= m_axi_wdata[8*b +: 8];
  end

  genvar lane;
  generate
    for (lane = 0; lane < DataWidth / 32; lane = lane + 1) begin : gen_lane
      pto_gm_combine u_lane (
        .clk_i,
        .take_i  (moves),
        .pass_i  (pass),
        .on_i    (|word_strb_i[4*lane +: 4]),
        .old_i   (joins ? old_q[32*lane +: 32] : beat_i[32*lane +: 32]),
        .y_i     (word_i[32*lane +: 32]),
        .type_i  (word_update_i.kind),
        .op_i    (word_update_i.op),
        .nosat_i (word_update_i.nosat),
        .data_o  (m_axi_wdata[32*lane +: 32])
      );
    end
  endgenerate

  assign m_axi_wvalid = valid_q[3];
  assign m_axi_wstrb  = strb_q[3*Bytes +: Bytes];
  assign m_axi_wlast  = last_q[3];
endmodule

`default_nettype wire

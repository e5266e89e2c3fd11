// SPDX-License-Identifier: Apache-2.0
//
// Last stage before the W channel: combines the words of atomic ops, element by element, with the
// old values in GM, passes others, and drops those of cancelled bursts. Only bytes with a
// strobe are evaluated. The first word of a burst that joins the one before has no beat: it is the
// bus word of the last result, and its old value is what that write leaves there.
// Throughput: one word per clock. Latency: one clock.
// Spec: fixpipe.md section 9.
//
//   clk         _/~\_/~\_/~\_/~\_
//   word_valid  _/~~~~~~~\_______     atomic: waits for its beat
//   beat_valid  _____/~~~\_______
//   wvalid      _________/~~~\___     stays until wready
`default_nettype none

module pto_gm_merge #(
  parameter integer DataWidth = 256          // bits of the AXI data bus
) (
  input  wire                   clk_i,        // clock
  input  wire                   rst_ni,       // asynchronous reset, active low
  input  wire                   word_valid_i, // a word is there
  output wire                   word_ready_o, // it is taken
  input  wire [DataWidth-1:0]   word_i,       // the word
  input  wire [DataWidth/8-1:0] word_strb_i,  // bytes to write
  input  wire                   word_last_i,  // last of its burst
  input  wire [2:0]             word_type_i,  // atomic type, 0: none
  input  wire [1:0]             word_op_i,    // 0 add, 1 max, 2 min
  input  wire                   word_nosat_i, // f16: no saturation, NaN as it is
  input  wire                   go_valid_i,   // it is decided what happens to the burst
  input  wire                   go_drop_i,    // its words are dropped
  input  wire                   go_joins_i,   // it joins the burst before
  output wire                   go_ready_o,   // its last word has been taken
  input  wire                   beat_valid_i, // what GM held is there
  output wire                   beat_ready_o, // it is taken
  input  wire [DataWidth-1:0]   beat_i,       // what GM held
  output wire                   m_axi_wvalid, // word offered
  input  wire                   m_axi_wready, // word taken
  output wire [DataWidth-1:0]   m_axi_wdata,  // word
  output wire [DataWidth/8-1:0] m_axi_wstrb,  // byte strobes
  output wire                   m_axi_wlast   // last word of the burst
);

  reg                   w_valid_q;
  reg [DataWidth/8-1:0] w_strb_q;
  reg                   w_last_q;
  reg                   first_q;             // the next word is the first of its burst
  reg  [DataWidth-1:0]  old_q;               // old value of the last word, stays after its write

  wire atomic = word_type_i != 3'd0;
  wire joins  = go_joins_i && first_q;
  wire reads  = atomic && !joins;
  wire room   = !w_valid_q || m_axi_wready;
  wire take   = word_valid_i && go_valid_i && (go_drop_i || room) && (!reads || beat_valid_i);
  wire send   = take && !go_drop_i;

  wire [DataWidth-1:0] left;                 // what the last write leaves in its bus word
  wire [DataWidth-1:0] old = joins ? left : beat_i;

  assign word_ready_o = take;
  assign go_ready_o   = take && word_last_i;
  assign beat_ready_o = take && reads;

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      w_valid_q <= 1'b0;
      first_q   <= 1'b1;
    end else begin
      if (send) w_valid_q <= 1'b1;
      else if (m_axi_wready) w_valid_q <= 1'b0;
      if (take) first_q <= word_last_i;
    end
  end

  always @(posedge clk_i) begin
    if (send) begin
      w_strb_q <= word_strb_i;
      w_last_q <= word_last_i;
      if (atomic) old_q <= old;
    end
  end

  genvar b;
  generate
    for (b = 0; b < DataWidth / 8; b = b + 1) begin : gen_left
      assign left[8*b +: 8] = w_strb_q[b] ? m_axi_wdata[8*b +: 8] : old_q[8*b +: 8];
    end
  endgenerate

  genvar k;
  generate
    for (k = 0; k < DataWidth / 32; k = k + 1) begin : gen_lane
      pto_gm_combine u_lane (
        .clk_i   (clk_i),
        .take_i  (send),
        .on_i    (atomic && |word_strb_i[4*k +: 4]),
        .old_i   (old[32*k +: 32]),
        .y_i     (word_i[32*k +: 32]),
        .type_i  (word_type_i),
        .op_i    (word_op_i),
        .nosat_i (word_nosat_i),
        .data_o  (m_axi_wdata[32*k +: 32])
      );
    end
  endgenerate

  assign m_axi_wvalid = w_valid_q;
  assign m_axi_wstrb  = w_strb_q;
  assign m_axi_wlast  = w_last_q;
endmodule

`default_nettype wire

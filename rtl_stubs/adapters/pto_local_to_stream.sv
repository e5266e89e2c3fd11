// SPDX-License-Identifier: Apache-2.0
//
// Adapter: bytes of a local memory as packets of an AXI4-Stream, each from lane 0 of the stream on,
// with tkeep and tlast. err_o reports each failed word; the packet goes on. Throughput: one local
// word in and one beat out per clock. Latency: command to src_req two clocks, answer to tvalid two.
// Limits: DataWidth 8 to 512, a power of two; 16 commands. Spec: docs/contract.md, src port; AMBA
// AXI4-Stream.
//
//   clk         _/~\_/~\_/~\_/~\_/~\_
//   cmd_valid   _/~~~\_______________     cmd_ready 1
//   src_req     _________/~~~\_______     until src_gnt
//   src_rvalid  _____________/~~~\___     tvalid two clocks later
`default_nettype none
`include "pto_records.vh"

module pto_local_to_stream #(
  parameter integer DataWidth  = 64,         // bits of the stream
  parameter integer LocalWidth = 256         // bits of a local word
) (
  input  wire                   clk_i,        // clock
  input  wire                   rst_ni,       // asynchronous reset, active low
  input  wire                   cmd_valid_i,  // a packet is to be sent
  output wire                   cmd_ready_o,  // its command is taken
  input  wire [2:0]             cmd_space_i,  // memory
  input  wire [19:0]            cmd_addr_i,   // byte address
  input  wire [19:0]            cmd_len_i,    // bytes, at least 1
  output wire                   tvalid_o,     // beat offered
  input  wire                   tready_i,     // beat taken
  output wire [DataWidth-1:0]   tdata_o,      // beat
  output wire [DataWidth/8-1:0] tkeep_o,      // bytes of the packet
  output wire                   tlast_o,      // last beat of the packet
  output wire                   src_req_o,    // on-chip read, stable until granted
  input  wire                   src_gnt_i,    // request taken
  output wire [2:0]             src_space_o,  // memory
  output wire [19:0]            src_addr_o,   // byte address, word aligned
  input  wire                   src_rvalid_i, // reply, in order
  input  wire [LocalWidth-1:0]  src_rdata_i,  // word
  input  wire                   src_err_i,    // the read failed, with the reply
  output wire [42:0]            err_o         // a failed word: status, address; else 0
);
  localparam integer Bytes      = DataWidth / 8;
  localparam integer LocalBytes = LocalWidth / 8;
  localparam integer LineBytes  = (Bytes > LocalBytes) ? Bytes : LocalBytes;
  localparam [19:0]  BEAT       = Bytes[19:0];

  generate
    if (DataWidth < 8 || DataWidth > 512 || (DataWidth & (DataWidth - 1)) != 0) begin : gen_bad
      pto_error_data_width_must_be_a_power_of_two_from_8_to_512 u_error ();
    end
  endgenerate

  wire                   reads_ready, lanes_ready, lens_ready, word_valid, word_ready;
  wire [LocalWidth-1:0]  word;
  wire                   lanes_valid, lanes_take;
  wire pto_lanes_t       lanes;
  wire                   line_valid, line_ready;
  wire [8*LineBytes-1:0] line;
  wire pto_err_t         err;

  assign cmd_ready_o = reads_ready && lanes_ready && lens_ready;
  wire   take        = cmd_valid_i && cmd_ready_o;
  assign err_o       = err.valid ? {err.status, err.addr} : 43'd0;

  pto_local_read #(
    .LocalDataWidth (LocalWidth)
  ) u_read (
    .clk_i, .rst_ni, .src_req_o, .src_gnt_i, .src_space_o, .src_addr_o, .src_rvalid_i,
    .src_rdata_i, .src_err_i,
    .row_valid_i  (cmd_valid_i && lanes_ready && lens_ready),
    .row_ready_o  (reads_ready),
    .row_i        ({4'd0, cmd_space_i, cmd_addr_i, cmd_len_i}),
    .err_i        ({`PTO_NUM_ACTIVE{1'b0}}),
    .beat_valid_o (word_valid),
    .beat_ready_i (word_ready),
    .beat_o       (word),
    .err_o        (err)
  );

  pto_fifo #(
    .Width (`PTO_LANES_BITS),
    .Depth (16)
  ) u_lanes (
    .clk_i, .rst_ni,
    .wr_valid_i (take),
    .wr_ready_o (lanes_ready),
    .wr_data_i  ({cmd_addr_i[5:0], 6'd0, cmd_len_i}),
    .rd_valid_o (lanes_valid),
    .rd_ready_i (lanes_take),
    .rd_data_o  (lanes)
  );

  pto_realign #(
    .SrcBytes  (LocalBytes),
    .LineBytes (LineBytes)
  ) u_realign (
    .clk_i, .rst_ni,
    .row_valid_i  (lanes_valid),
    .row_ready_o  (lanes_take),
    .row_i        (lanes),
    .beat_valid_i (word_valid),
    .beat_ready_o (word_ready),
    .beat_i       (word),
    .line_valid_o (line_valid),
    .line_ready_i (line_ready),
    .line_o       (line)
  );

  // ---- lines to beats ----
  wire        open;
  wire [19:0] len;
  reg         begun_q;
  reg  [19:0] left_q;                        // bytes of the packet from this beat on
  wire [19:0] left = begun_q ? left_q : len;
  wire        sent = tvalid_o && tready_i;

  pto_fifo #(
    .Width (20),
    .Depth (16)
  ) u_lens (
    .clk_i, .rst_ni,
    .wr_valid_i (take),
    .wr_ready_o (lens_ready),
    .wr_data_i  (cmd_len_i),
    .rd_valid_o (open),
    .rd_ready_i (sent && tlast_o),
    .rd_data_o  (len)
  );

  assign tvalid_o = open && line_valid;
  assign tlast_o  = left <= BEAT;
  assign tkeep_o  = tlast_o ? ~({Bytes{1'b1}} << left[$clog2(Bytes):0]) : {Bytes{1'b1}};

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begun_q <= 1'b0;
    else if (sent) begun_q <= !tlast_o;
  end

  always @(posedge clk_i) begin
    if (sent) left_q <= left - BEAT;
  end

  generate
    if (LineBytes > Bytes) begin : gen_part
      localparam integer PartBits = $clog2(LineBytes / Bytes);
      reg [PartBits-1:0] part_q;
      assign tdata_o    = line[part_q*DataWidth +: DataWidth];
      assign line_ready = sent && (tlast_o || &part_q);

      always @(posedge clk_i or negedge rst_ni) begin
        if (!rst_ni) part_q <= {PartBits{1'b0}};
        else if (sent) part_q <= tlast_o ? {PartBits{1'b0}} : part_q + 1'b1;
      end
    end else begin : gen_whole
      assign tdata_o    = line;
      assign line_ready = sent;
    end
  endgenerate

  wire unused = &{1'b0, err};
endmodule

`default_nettype wire

// SPDX-License-Identifier: Apache-2.0
//
// Adapter: packets of an AXI4-Stream to the local write port. A command has the place of the next
// packet; its bytes begin in lane 0 of the stream and are moved to their lanes (pto_row_path). The
// length counts, tlast and tkeep need not be connected. rsp_valid comes with the last grant of a
// packet. err_o reports each failed word; the packet goes on. Throughput: one beat in and one local
// word out per clock. Latency: beat to dst_req two clocks. Limits: DataWidth 32 to 512, a power of
// two; 32 commands. Spec: docs/contract.md, dst port; AMBA AXI4-Stream.
//
//   clk        _/~\_/~\_/~\_/~\_/~\_
//   cmd_valid  _/~~~\_______________     cmd_ready 1
//   tvalid     _____/~~~\___________     not taken before its command
//   dst_req    _____________/~~~\___     until dst_gnt
//   rsp_valid  _____________/~~~\___     with dst_gnt
`default_nettype none
`include "pto_records.vh"

module pto_stream_to_local #(
  parameter integer DataWidth  = 64,         // bits of the stream
  parameter integer LocalWidth = 256         // bits of a local word
) (
  input  wire                    clk_i,       // clock
  input  wire                    rst_ni,      // asynchronous reset, active low
  input  wire                    cmd_valid_i, // a packet will come
  output wire                    cmd_ready_o, // its command is taken
  input  wire [2:0]              cmd_space_i, // memory
  input  wire [19:0]             cmd_addr_i,  // byte address
  input  wire [19:0]             cmd_len_i,   // bytes, at least 1
  input  wire                    tvalid_i,    // beat offered
  output wire                    tready_o,    // beat taken
  input  wire [DataWidth-1:0]    tdata_i,     // beat
  output wire                    rsp_valid_o, // the oldest packet is written
  output wire                    dst_req_o,   // on-chip write, stable until granted
  input  wire                    dst_gnt_i,   // write done
  output wire [2:0]              dst_space_o, // memory
  output wire [19:0]             dst_addr_o,  // byte address, word aligned
  output wire [LocalWidth/8-1:0] dst_be_o,    // byte enables
  output wire [LocalWidth-1:0]   dst_wdata_o, // word
  input  wire                    dst_err_i,   // the write failed, with the grant
  output wire [42:0]             err_o        // a failed word: status, address; else 0
);
  generate
    if (DataWidth < 32 || DataWidth > 512 || (DataWidth & (DataWidth - 1)) != 0) begin : gen_bad
      pto_error_data_width_must_be_a_power_of_two_from_32_to_512 u_error ();
    end
  endgenerate

  wire       last_unused;
  wire [3:0] id_unused;

  pto_row_path #(
    .SrcBytes (DataWidth / 8),
    .DstBytes (LocalWidth / 8),
    .Plain    (1)
  ) u_path (
    .clk_i, .rst_ni,
    .row_valid_i  (cmd_valid_i),
    .row_ready_o  (cmd_ready_o),
    .row_i        ({1'b0, 1'b1, 4'd0, cmd_space_i, cmd_addr_i, cmd_len_i, 62'd0}),
    .row_src_i    (6'd0),
    .row_widen_i  (2'd0),
    .beat_valid_i (tvalid_i),
    .beat_ready_o (tready_o),
    .beat_i       (tdata_i),
    .err_i        ({`PTO_NUM_ACTIVE{1'b0}}),
    .out_valid_o  (dst_req_o),
    .out_ready_i  (dst_gnt_i),
    .out_id_o     (id_unused),
    .out_space_o  (dst_space_o),
    .out_addr_o   (dst_addr_o),
    .out_be_o     (dst_be_o),
    .out_data_o   (dst_wdata_o),
    .out_last_o   (last_unused),
    .fin_valid_o  (rsp_valid_o)
  );
  assign err_o = (dst_req_o && dst_gnt_i && dst_err_i) ? {`PTO_ST_LOCAL, 20'd0, dst_addr_o} : 43'd0;

  wire unused = &{1'b0, last_unused, id_unused};
endmodule

`default_nettype wire

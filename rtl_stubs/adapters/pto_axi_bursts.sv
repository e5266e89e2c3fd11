// SPDX-License-Identifier: Apache-2.0
//
// Part of pto_axi_reads and pto_axi_writes: numbers the bursts of a block, makes each one a row of
// bytes, and keeps which of them have failed. A burst that AXI4 forbids, since it crosses 4 KiB or
// its beats are wider than the bus, has an error from the start, and so has one that is not INCR.
// Throughput: one burst per clock. Latency: none. Spec: AMBA AXI4.
//
//   clk        _/~\_/~\_/~\_
//   valid_i    _/~~~\_______     ready_o is row_ready_i
//   row_valid  _/~~~\_______
//   drop_o     _____/~~~~~~~     of a burst with an error from the start
`default_nettype none
`include "pto_records.vh"

module pto_axi_bursts #(
  parameter [2:0]   Failed    = `PTO_ST_RD_SLVERR,  // status of an error from the start
  parameter integer DataWidth = 64           // bits of the bus
) (
  input  wire                       clk_i,       // clock
  input  wire                       rst_ni,      // asynchronous reset, active low
  input  wire                       valid_i,     // burst offered
  output wire                       ready_o,     // burst taken
  input  wire [39:0]                addr_i,      // its first byte
  input  wire [7:0]                 len_i,       // beats less 1
  input  wire [2:0]                 size_i,      // log2 of the bytes of a beat
  input  wire [1:0]                 burst_i,     // INCR
  output wire                       row_valid_o, // bytes to access
  input  wire                       row_ready_i, // they are taken
  output reg  [3:0]                 row_id_o,    // number of the burst, modulo 16
  output wire [15:0]                row_len_o,   // bytes from addr_i on, at least 1
  input  wire pto_err_t             err_i,       // an access failed
  output reg  [`PTO_NUM_ACTIVE-1:0] drop_o,      // per burst: it has failed, do no more of it
  output reg  [`PTO_NUM_ACTIVE-1:0] decode_o,    // per burst: with DECERR
  output wire [42:0]                err_o        // an error: status, address; else 0
);
  generate
    if (DataWidth < 8 || DataWidth > 1024 || (DataWidth & (DataWidth - 1)) != 0) begin : gen_bad
      pto_error_data_width_must_be_a_power_of_two_from_8_to_1024 u_error ();
    end
  endgenerate

  wire        take  = valid_i && ready_o;
  wire [15:0] bytes = ({8'd0, len_i} + 16'd1) << size_i;
  wire [6:0]  below = ~(7'h7F << size_i) & addr_i[6:0];       // bytes of the first beat before it
  wire [15:0] reach = {4'd0, addr_i[11:0]} + row_len_o;       // in the page of the first byte
  wire        bad   = take && (burst_i != 2'b01 || reach > 16'd4096
                               || (16'd8 << size_i) > DataWidth[15:0]);
  assign ready_o     = row_ready_i;
  assign row_valid_o = valid_i;
  assign row_len_o   = bytes - {9'd0, below};
  assign err_o       = err_i.valid ? {err_i.status, err_i.addr} : bad ? {Failed, addr_i} : 43'd0;

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      row_id_o <= 4'd0;
      drop_o   <= {`PTO_NUM_ACTIVE{1'b0}};
      decode_o <= {`PTO_NUM_ACTIVE{1'b0}};
    end else begin
      if (take) begin
        row_id_o           <= row_id_o + 4'd1;
        drop_o[row_id_o]   <= bad;
        decode_o[row_id_o] <= 1'b0;
      end
      if (err_i.valid && !drop_o[err_i.id]) begin
        drop_o[err_i.id]   <= 1'b1;
        decode_o[err_i.id] <= err_i.status == Failed + 3'd1;
      end
    end
  end
endmodule

`default_nettype wire

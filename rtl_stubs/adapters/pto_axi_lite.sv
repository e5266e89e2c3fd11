// SPDX-License-Identifier: Apache-2.0
//
// Adapter: an AXI4-Lite manager, one transfer after the other, with the requests of pto_apb. A
// request is taken when no transfer runs; at read_o the bus has the value. Address and data of a
// write are offered together. Throughput: a transfer takes three clocks and the wait states. Spec:
// AMBA AXI4-Lite.
//
//   clk              _/~\_/~\_/~\_/~\_/~\_
//   req              _/~~~\_______________     any request while free
//   awvalid, wvalid  _____/~~~\___________     each until its ready
//   bready           _________/~~~~~~~\___
//   end              _____________/~~~\___     with bvalid
`default_nettype none

module pto_axi_lite #(
  parameter integer AddrWidth = 8            // bits of an address
) (
  input  wire                 clk_i,         // clock
  input  wire                 rst_ni,        // asynchronous reset, active low
  input  wire                 req_valid_i,   // a transfer is wanted
  input  wire                 req_write_i,   // it writes
  input  wire [AddrWidth-1:0] req_addr_i,    // its register
  input  wire [31:0]          req_data_i,    // value to write
  output wire                 free_o,        // no transfer runs: a request is taken
  output wire                 read_o,        // a read ends
  output wire                 wrote_o,       // a write ends
  output wire                 error_o,       // it ends with SLVERR or DECERR
  output reg                  awvalid_o,
  input  wire                 awready_i,
  output reg  [AddrWidth-1:0] awaddr_o,
  output reg                  wvalid_o,
  input  wire                 wready_i,
  output reg  [31:0]          wdata_o,
  output wire [3:0]           wstrb_o,
  input  wire                 bvalid_i,
  output reg                  bready_o,
  input  wire [1:0]           bresp_i,
  output reg                  arvalid_o,
  input  wire                 arready_i,
  output wire [AddrWidth-1:0] araddr_o,
  input  wire                 rvalid_i,
  output reg                  rready_o,
  input  wire [1:0]           rresp_i
);
  reg    busy_q;
  wire   take = req_valid_i && free_o;
  assign free_o   = !busy_q;
  assign read_o   = rvalid_i && rready_o;
  assign wrote_o  = bvalid_i && bready_o;
  assign error_o  = wrote_o ? bresp_i[1] : read_o && rresp_i[1];
  assign araddr_o = awaddr_o;
  assign wstrb_o  = 4'b1111;

  // An answer is taken when all of its request has been.
  wire asked = !(awvalid_o && !awready_i) && !(wvalid_o && !wready_i) && !(arvalid_o && !arready_i);

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      busy_q    <= 1'b0;
      awvalid_o <= 1'b0;
      wvalid_o  <= 1'b0;
      arvalid_o <= 1'b0;
      bready_o  <= 1'b0;
      rready_o  <= 1'b0;
    end else begin
      busy_q    <= busy_q ? !(read_o || wrote_o) : req_valid_i;
      awvalid_o <= (take && req_write_i) || (awvalid_o && !awready_i);
      wvalid_o  <= (take && req_write_i) || (wvalid_o && !wready_i);
      arvalid_o <= (take && !req_write_i) || (arvalid_o && !arready_i);
      bready_o  <= busy_q && !wrote_o && (bready_o || ((awvalid_o || wvalid_o) && asked));
      rready_o  <= busy_q && !read_o && (rready_o || (arvalid_o && asked));
    end
  end

  always @(posedge clk_i) begin
    if (take) {awaddr_o, wdata_o} <= {req_addr_i, req_data_i};
  end
endmodule

`default_nettype wire

// SPDX-License-Identifier: Apache-2.0
//
// The AXI4 writes of a block, seen by an adapter, and when they stop; needs DataWidth and IdWidth.
// A block without ids or sizes ties awid_i to 0 and awsize_i to $clog2(DataWidth / 8).
  input  wire [IdWidth-1:0]         awid_i,       // id of the burst
  input  wire [39:0]                awaddr_i,     // its first byte
  input  wire [7:0]                 awlen_i,      // beats less 1
  input  wire [2:0]                 awsize_i,     // log2 of the bytes of a beat
  input  wire [1:0]                 awburst_i,    // INCR
  input  wire                       awvalid_i,    // burst offered
  output wire                       awready_o,    // burst taken
  input  wire [DataWidth-1:0]       wdata_i,      // beat
  input  wire [DataWidth/8-1:0]     wstrb_i,      // byte strobes
  input  wire                       wlast_i,      // last beat of the burst
  input  wire                       wvalid_i,     // beat offered
  output wire                       wready_o,     // beat taken
  output wire [IdWidth-1:0]         bid_o,        // that of the burst
  output wire [1:0]                 bresp_o,      // response
  output wire                       bvalid_o,     // response offered
  input  wire                       bready_i,     // response taken
  input  wire                       stop_i,       // write no more

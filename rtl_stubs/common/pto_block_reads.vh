// SPDX-License-Identifier: Apache-2.0
//
// The AXI4 reads of a block, seen by an adapter, and when they stop; needs DataWidth and IdWidth.
// A block without ids or sizes ties arid_i to 0 and arsize_i to $clog2(DataWidth / 8).
  input  wire [IdWidth-1:0]         arid_i,       // id of the burst
  input  wire [39:0]                araddr_i,     // its first byte
  input  wire [7:0]                 arlen_i,      // beats less 1
  input  wire [2:0]                 arsize_i,     // log2 of the bytes of a beat
  input  wire [1:0]                 arburst_i,    // INCR
  input  wire                       arvalid_i,    // burst offered
  output wire                       arready_o,    // burst taken
  output reg  [IdWidth-1:0]         rid_o,        // that of the burst
  output reg  [DataWidth-1:0]       rdata_o,      // beat
  output reg  [1:0]                 rresp_o,      // response
  output reg                        rlast_o,      // last beat of the burst
  output reg                        rvalid_o,     // beat offered
  input  wire                       rready_i,     // beat taken
  input  wire                       stop_i,       // read no more: what is left ends with SLVERR

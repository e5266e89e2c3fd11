// SPDX-License-Identifier: Apache-2.0
//
// Adapter: the AXI4 writes of a block to the local write port. A beat becomes one access for each
// local word that it writes bytes of; a beat that is narrower than the word enables its lanes of it.
// The write address is {memory, local byte address}. A local error becomes SLVERR of its burst.
// Throughput: one beat or one local word per clock. Latency: W beat to dst_req one clock, last grant
// to B one clock. Limits: one burst at a time, full beats; DataWidth and LocalWidth powers of two.
// Spec: CONTRACT, dst port.
//
//   clk      _/~\_/~\_/~\_
//   wvalid   _/~~~\_______      wready 1
//   dst_req  _____/~~~~~~~      stays until dst_gnt
`default_nettype none

module pto_axi_to_local #(
  parameter integer AddrWidth  = 40,         // bits of a write address
  parameter integer DataWidth  = 256,        // bits of the AXI data bus
  parameter integer LocalBits  = 20,         // bits of a local byte address
  parameter integer LocalWidth = 256         // bits of a local word
) (
  input  wire                    clk_i,       // clock
  input  wire                    rst_ni,      // asynchronous reset, active low
  input  wire                    awvalid_i,   // burst offered
  output wire                    awready_o,   // burst taken
  input  wire [AddrWidth-1:0]    awaddr_i,    // its address, bus word aligned
  input  wire                    wvalid_i,    // beat offered
  output wire                    wready_o,    // beat taken
  input  wire [DataWidth-1:0]    wdata_i,     // beat
  input  wire [DataWidth/8-1:0]  wstrb_i,     // byte strobes
  input  wire                    wlast_i,     // last beat of the burst
  output reg                     bvalid_o,    // response offered
  input  wire                    bready_i,    // response taken
  output reg  [1:0]              bresp_o,     // OKAY or SLVERR
  output wire                    dst_req_o,   // on-chip write, stable until granted
  input  wire                    dst_gnt_i,   // write done
  output wire [2:0]              dst_space_o, // memory
  output wire [LocalBits-1:0]    dst_addr_o,  // byte address, word aligned
  output wire [LocalWidth/8-1:0] dst_be_o,    // byte enables
  output wire [LocalWidth-1:0]   dst_wdata_o, // word
  input  wire                    dst_err_i    // the write failed, with the grant
);
  localparam int Bytes  = DataWidth / 8;
  localparam int Local  = LocalWidth / 8;
  localparam int Parts  = (Bytes > Local) ? Bytes / Local : 1;   // words in a beat
  localparam int Copies = (Local > Bytes) ? Local / Bytes : 1;   // beats in a word

  // --- one burst, and in it one beat ---
  logic                   open;               // between the burst's address and its last beat
  logic [LocalBits+2:0]   place;              // of the next beat
  logic [Parts-1:0]       todo, new_todo;     // words of the beat that are still to be written
  logic [LocalBits+2:0]   beat_place;
  logic [Bytes-1:0]       beat_be;
  logic [DataWidth-1:0]   beat_data;
  logic                   beat_last, bad;     // beat_last: a response follows this beat

  logic step, beat_done, beat_free;
  assign step      = dst_req_o && dst_gnt_i;
  assign beat_done = todo == '0 || (step && (todo & (todo - 1'b1)) == '0);
  assign beat_free = beat_done && !beat_last;
  assign awready_o   = !open;
  assign wready_o    = open && beat_free;

  for (genvar p = 0; p < Parts; p++) begin : g_part
    assign new_todo[p] = |wstrb_i[p*(Bytes/Parts)+:Bytes/Parts];
  end

  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      open      <= 1'b0;
      todo      <= '0;
      beat_last <= 1'b0;
      bvalid_o    <= 1'b0;
      bad       <= 1'b0;
    end else begin
      if (awvalid_i && awready_o)               open <= 1'b1;
      else if (wvalid_i && wready_o && wlast_i)   open <= 1'b0;
      if (wvalid_i && wready_o)                 todo <= new_todo;
      else if (step)                        todo <= todo & (todo - 1'b1);
      if (wvalid_i && wready_o)                 beat_last <= wlast_i;
      else if (beat_done && (!bvalid_o || bready_i)) beat_last <= 1'b0;
      if (beat_last && beat_done && (!bvalid_o || bready_i)) begin
        bvalid_o <= 1'b1;
        bresp_o  <= {bad || (step && dst_err_i), 1'b0};
        bad    <= 1'b0;
      end else begin
        if (bready_i) bvalid_o <= 1'b0;
        if (step && dst_err_i) bad <= 1'b1;
      end
    end

  always_ff @(posedge clk_i) begin
    if (awvalid_i && awready_o)    place <= awaddr_i[LocalBits+2:0];
    else if (wvalid_i && wready_o) place <= place + (LocalBits+3)'(Bytes);
    if (wvalid_i && wready_o) begin
      beat_place <= place;
      beat_be    <= wstrb_i;
      beat_data  <= wdata_i;
    end
  end

  // --- the lowest word of the beat that is left ---
  assign dst_req_o   = todo != '0;
  assign dst_space_o = beat_place[LocalBits+:3];
  if (Parts > 1) begin : g_narrow
    logic [$clog2(Parts)-1:0] part;
    always_comb begin
      part = '0;
      for (int unsigned p = Parts; p > 0; p--)
        if (todo[p-1]) part = ($clog2(Parts))'(p - 1);
    end
    assign dst_addr_o  = {beat_place[LocalBits-1:$clog2(Bytes)], part, {$clog2(Local){1'b0}}};
    assign dst_be_o    = beat_be[part*Local+:Local];
    assign dst_wdata_o = beat_data[part*LocalWidth+:LocalWidth];
  end else begin : g_wide
    assign dst_addr_o  = {beat_place[LocalBits-1:$clog2(Local)], {$clog2(Local){1'b0}}};
    assign dst_wdata_o = {Copies{beat_data}};
    if (Copies > 1) begin : g_lanes
      for (genvar c = 0; c < Copies; c++) begin : g_copy
        assign dst_be_o[c*Bytes+:Bytes] =
            (beat_place[$clog2(Local)-1:$clog2(Bytes)] == ($clog2(Copies))'(c)) ? beat_be : '0;
      end
    end else begin : g_same
      assign dst_be_o = beat_be;
    end
  end

  wire unused = &{1'b0, awaddr_i, beat_place};
endmodule

`default_nettype wire

// SPDX-License-Identifier: Apache-2.0
//
// Cuts rows of GM bytes into AXI bursts: first address aligned down to the bus word, a cut at
// every 4 KiB boundary (no burst is then longer than 256 beats on a bus of 128 bits or more).
// Throughput: one burst per clock, also across rows. Latency: one clock.
// A record with row_end_i passes as a command of no beats. Spec: CONTRACT, m_axi rules.
//
//   clk        _/~\_/~\_/~\_/~\_
//   row_valid  _/~~~\___________      row over one 4 KiB boundary
//   cmd_valid  _____/~~~~~~~\___      two commands, each stays until cmd_ready
`default_nettype none

module pto_row_bursts #(
  parameter integer BusBytes    = 32,        // bytes of a bus word: 16, 32 or 64
  parameter integer GmAddrWidth = 40,        // bits of a GM byte address
  parameter integer LenWidth    = 16,        // bits of a row length
  parameter integer IdWidth     = 4          // bits of an op number
) (
  input  wire                   clk_i,       // clock
  input  wire                   rst_ni,      // asynchronous reset, active low
  input  wire                   row_valid_i, // a row is there
  output wire                   row_ready_o, // it is taken
  input  wire                   row_end_i,   // no row, only the end of an op
  input  wire                   row_last_i,  // last record of the op
  input  wire [IdWidth-1:0]     row_id_i,    // op number
  input  wire [GmAddrWidth-1:0] row_addr_i,  // GM byte address
  input  wire [LenWidth-1:0]    row_len_i,   // bytes, at least 1 unless row_end_i
  output wire                   cmd_valid_o, // a burst is there
  input  wire                   cmd_ready_i, // it is taken
  output wire                   cmd_end_o,   // no beats, only the end of an op
  output wire                   cmd_last_o,  // last command of the op
  output wire [IdWidth-1:0]     cmd_id_o,    // op number
  output wire [GmAddrWidth-1:0] cmd_addr_o,  // address of the first bus word
  output wire [8:0]             cmd_beats_o  // beats, 1 to 256
);
  localparam integer LaneBits  = $clog2(BusBytes);
  localparam integer IndexBits = 12 - LaneBits;            // bus word within its 4 KiB page
  localparam integer BeatBits  = LenWidth - 3;             // beats of a row
  localparam [BeatBits-1:0] PAGE_BEATS = {{(BeatBits - 1){1'b0}}, 1'b1} << IndexBits;

  reg                    active_q;
  reg                    end_q;
  reg                    last_q;
  reg                    final_q;            // the burst is the last of its row
  reg [IdWidth-1:0]      id_q;
  reg [GmAddrWidth-1:12] page_q;
  reg [IndexBits-1:0]    index_q;
  reg [8:0]              beats_q;            // beats of the burst
  reg [BeatBits-1:0]     left_q;             // beats of the row after it, unless it is the last

  wire [LenWidth:0]   row_span = {{(LenWidth + 1 - LaneBits){1'b0}}, row_addr_i[LaneBits-1:0]}
                               + {1'b0, row_len_i} + BusBytes[LenWidth:0]
                               - {{LenWidth{1'b0}}, 1'b1};
  wire [BeatBits-1:0] row_beats = {{(LaneBits - 4){1'b0}}, row_span[LenWidth:LaneBits]};
  wire [BeatBits-1:0] page_left = PAGE_BEATS
                                - {{(BeatBits - IndexBits){1'b0}}, row_addr_i[11:LaneBits]};
  wire                row_fits  = row_end_i || row_beats <= page_left;
  wire                rest_fits = left_q <= PAGE_BEATS;

  assign cmd_valid_o = active_q;
  assign cmd_end_o   = end_q;
  assign cmd_last_o  = last_q && final_q;
  assign cmd_id_o    = id_q;
  assign cmd_addr_o  = {page_q, index_q, {LaneBits{1'b0}}};
  assign cmd_beats_o = beats_q;
  assign row_ready_o = !active_q || (cmd_ready_i && final_q);

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) active_q <= 1'b0;
    else if (row_ready_o) active_q <= row_valid_i;
  end

  always @(posedge clk_i) begin
    if (row_ready_o) begin
      end_q   <= row_end_i;
      last_q  <= row_last_i;
      final_q <= row_fits;
      id_q    <= row_id_i;
      page_q  <= row_addr_i[GmAddrWidth-1:12];
      index_q <= row_addr_i[11:LaneBits];
      beats_q <= row_end_i ? 9'd0 : row_fits ? row_beats[8:0] : page_left[8:0];
      left_q  <= row_beats - page_left;
    end else if (cmd_ready_i) begin
      final_q <= rest_fits;
      page_q  <= page_q + 1'b1;
      index_q <= {IndexBits{1'b0}};
      beats_q <= rest_fits ? left_q[8:0] : PAGE_BEATS[8:0];
      left_q  <= left_q - PAGE_BEATS;
    end
  end

  wire unused = &{1'b0, row_span[LaneBits-1:0]};   // bytes short of a whole bus word
endmodule

`default_nettype wire

// SPDX-License-Identifier: Apache-2.0
//
// Cuts rows of GM bytes into AXI bursts: first address aligned down to the bus word, a cut at
// every 4 KiB boundary (no burst is then longer than 256 beats on a bus of 128 bits or more).
// Throughput: one burst per clock, also across rows. Latency: one clock.
// A record with cut passes as a command of no beats. Spec: docs/contract.md, m_axi rules.
//
//   clk        _/~\_/~\_/~\_/~\_
//   row_valid  _/~~~\___________      row over one 4 KiB boundary
//   cmd_valid  _____/~~~~~~~\___      two commands, each stays until cmd_ready
`default_nettype none
`include "pto_records.vh"

module pto_row_bursts #(
  parameter integer BusBytes = 32            // bytes of a bus word: 16, 32 or 64
) (
  input  wire              clk_i,       // clock
  input  wire              rst_ni,      // asynchronous reset, active low
  input  wire              row_valid_i, // a row is there
  output wire              row_ready_o, // it is taken
  input  wire pto_gm_row_t row_i,       // the row
  output wire              cmd_valid_o, // a burst is there
  input  wire              cmd_ready_i, // it is taken
  output wire pto_burst_t  cmd_o        // the burst
);
  localparam integer LenWidth  = 23;                       // bits of a row length
  localparam integer LaneBits  = $clog2(BusBytes);
  localparam integer IndexBits = 12 - LaneBits;            // bus word within its 4 KiB page
  localparam integer BeatBits  = LenWidth - 3;             // beats of a row
  localparam [BeatBits-1:0] PAGE_BEATS = {{(BeatBits - 1){1'b0}}, 1'b1} << IndexBits;

  reg                 active_q;
  reg                 end_q;
  reg                 last_q;
  reg                 final_q;               // the burst is the last of its row
  reg [3:0]           id_q;
  reg [39:12]         page_q;
  reg [IndexBits-1:0] index_q;
  reg [8:0]           beats_q;               // beats of the burst
  reg [BeatBits-1:0]  left_q;                // beats of the row after it, unless it is the last

  wire [LenWidth:0]   row_span = {{(LenWidth + 1 - LaneBits){1'b0}}, row_i.addr[LaneBits-1:0]}
                               + {1'b0, row_i.len} + BusBytes[LenWidth:0]
                               - {{LenWidth{1'b0}}, 1'b1};
  wire [BeatBits-1:0] row_beats = {{(LaneBits - 4){1'b0}}, row_span[LenWidth:LaneBits]};
  wire [BeatBits-1:0] page_left = PAGE_BEATS
                                - {{(BeatBits - IndexBits){1'b0}}, row_i.addr[11:LaneBits]};
  wire                row_fits  = row_i.cut || row_beats <= page_left;
  wire                rest_fits = left_q <= PAGE_BEATS;

  assign cmd_valid_o = active_q;
  assign cmd_o = {end_q, last_q && final_q, id_q, page_q, index_q, {LaneBits{1'b0}}, beats_q};
  assign row_ready_o = !active_q || (cmd_ready_i && final_q);

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) active_q <= 1'b0;
    else if (row_ready_o) active_q <= row_valid_i;
  end

  always @(posedge clk_i) begin
    if (row_ready_o) begin
      end_q   <= row_i.cut;
      last_q  <= row_i.last;
      final_q <= row_fits;
      id_q    <= row_i.id;
      page_q  <= row_i.addr[39:12];
      index_q <= row_i.addr[11:LaneBits];
      beats_q <= row_i.cut ? 9'd0 : row_fits ? row_beats[8:0] : page_left[8:0];
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

// SPDX-License-Identifier: Apache-2.0
// AXI4 writes to the local write port. A beat becomes one access for each local word that it
// writes bytes of; a beat that is narrower than the word enables its lanes of it.
// The write address is {space, local byte address}. A local error becomes SLVERR of its burst.
module axi_copy_local #(
  parameter int AddrWidth  = 40,
  parameter int DataWidth  = 256,
  parameter int LocalBits  = 20,     // of a local byte address
  parameter int LocalWidth = 256     // bits of a local word
) (
  input  logic                    clk,
  input  logic                    rst_n,
  input  logic                    awvalid,
  output logic                    awready,
  input  logic [AddrWidth-1:0]    awaddr,     // word aligned
  input  logic                    wvalid,
  output logic                    wready,
  input  logic [DataWidth-1:0]    wdata,
  input  logic [DataWidth/8-1:0]  wstrb,
  input  logic                    wlast,
  output logic                    bvalid,
  input  logic                    bready,
  output logic [1:0]              bresp,
  output logic                    dst_req,
  input  logic                    dst_gnt,
  output logic [2:0]              dst_space,
  output logic [LocalBits-1:0]    dst_addr,
  output logic [LocalWidth/8-1:0] dst_be,
  output logic [LocalWidth-1:0]   dst_wdata,
  input  logic                    dst_err
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
  assign step      = dst_req && dst_gnt;
  assign beat_done = todo == '0 || (step && (todo & (todo - 1'b1)) == '0);
  assign beat_free = beat_done && !beat_last;
  assign awready   = !open;
  assign wready    = open && beat_free;

  for (genvar p = 0; p < Parts; p++) begin : g_part
    assign new_todo[p] = |wstrb[p*(Bytes/Parts)+:Bytes/Parts];
  end

  always_ff @(posedge clk or negedge rst_n)
    if (!rst_n) begin
      open      <= 1'b0;
      todo      <= '0;
      beat_last <= 1'b0;
      bvalid    <= 1'b0;
      bad       <= 1'b0;
    end else begin
      if (awvalid && awready)               open <= 1'b1;
      else if (wvalid && wready && wlast)   open <= 1'b0;
      if (wvalid && wready)                 todo <= new_todo;
      else if (step)                        todo <= todo & (todo - 1'b1);
      if (wvalid && wready)                 beat_last <= wlast;
      else if (beat_done && (!bvalid || bready)) beat_last <= 1'b0;
      if (beat_last && beat_done && (!bvalid || bready)) begin
        bvalid <= 1'b1;
        bresp  <= {bad || (step && dst_err), 1'b0};
        bad    <= 1'b0;
      end else begin
        if (bready) bvalid <= 1'b0;
        if (step && dst_err) bad <= 1'b1;
      end
    end

  always_ff @(posedge clk) begin
    if (awvalid && awready)    place <= awaddr[LocalBits+2:0];
    else if (wvalid && wready) place <= place + (LocalBits+3)'(Bytes);
    if (wvalid && wready) begin
      beat_place <= place;
      beat_be    <= wstrb;
      beat_data  <= wdata;
    end
  end

  // --- the lowest word of the beat that is left ---
  assign dst_req   = todo != '0;
  assign dst_space = beat_place[LocalBits+:3];
  if (Parts > 1) begin : g_narrow
    logic [$clog2(Parts)-1:0] part;
    always_comb begin
      part = '0;
      for (int unsigned p = Parts; p > 0; p--)
        if (todo[p-1]) part = ($clog2(Parts))'(p - 1);
    end
    assign dst_addr  = {beat_place[LocalBits-1:$clog2(Bytes)], part, {$clog2(Local){1'b0}}};
    assign dst_be    = beat_be[part*Local+:Local];
    assign dst_wdata = beat_data[part*LocalWidth+:LocalWidth];
  end else begin : g_wide
    assign dst_addr  = {beat_place[LocalBits-1:$clog2(Local)], {$clog2(Local){1'b0}}};
    assign dst_wdata = {Copies{beat_data}};
    if (Copies > 1) begin : g_lanes
      for (genvar c = 0; c < Copies; c++) begin : g_copy
        assign dst_be[c*Bytes+:Bytes] =
            (beat_place[$clog2(Local)-1:$clog2(Bytes)] == ($clog2(Copies))'(c)) ? beat_be : '0;
      end
    end else begin : g_same
      assign dst_be = beat_be;
    end
  end
endmodule

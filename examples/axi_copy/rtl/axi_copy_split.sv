// SPDX-License-Identifier: Apache-2.0
// Cuts a command into chunks that are one burst on either side: no chunk crosses a window boundary
// of source or destination, and a window holds at most 256 beats and 4 KiB.
// One chunk a clock. While `stop` is high the rest of a command is one empty chunk (`skip`).
module axi_copy_split #(
  parameter int AddrWidth = 40,
  parameter int LenWidth  = 16,
  parameter int Window    = 4096   // bytes, a power of two
) (
  input  logic                    clk,
  input  logic                    rst_n,
  input  logic                    stop,
  input  logic                    cmd_valid,
  output logic                    cmd_ready,
  input  logic [AddrWidth-1:0]    cmd_src,
  input  logic [AddrWidth-1:0]    cmd_dst,
  input  logic [LenWidth-1:0]     cmd_len,
  output logic                    chunk_valid,
  input  logic                    chunk_ready,
  output logic                    chunk_skip,
  output logic                    chunk_last,
  output logic [AddrWidth-1:0]    chunk_src,
  output logic [AddrWidth-1:0]    chunk_dst,
  output logic [$clog2(Window):0] chunk_len
);
  localparam int Off = $clog2(Window);
  localparam int Cnt = (LenWidth > Off + 1) ? LenWidth : Off + 1;

  logic                 run;
  logic [AddrWidth-1:0] src, dst;
  logic [Cnt-1:0]       left;

  // Bytes up to the next boundary, 1 to Window.
  logic [Off:0] src_room, dst_room, room;
  assign src_room = {1'b1, {Off{1'b0}}} - {1'b0, src[Off-1:0]};
  assign dst_room = {1'b1, {Off{1'b0}}} - {1'b0, dst[Off-1:0]};
  assign room     = (src_room < dst_room) ? src_room : dst_room;

  logic fits;
  assign fits = left <= Cnt'(room);

  assign chunk_valid = run;
  assign chunk_skip  = stop || left == '0;   // a command of no bytes also gets a response
  assign chunk_last  = chunk_skip || fits;
  assign chunk_src   = src;
  assign chunk_dst   = dst;
  assign chunk_len   = fits ? left[Off:0] : room;

  logic step;
  assign step      = chunk_valid && chunk_ready;
  assign cmd_ready = !run || (step && chunk_last);

  always_ff @(posedge clk or negedge rst_n)
    if (!rst_n)         run <= 1'b0;
    else if (cmd_ready) run <= cmd_valid;

  always_ff @(posedge clk)
    if (cmd_ready) begin
      src  <= cmd_src;
      dst  <= cmd_dst;
      left <= Cnt'(cmd_len);
    end else if (step) begin
      src  <= src + AddrWidth'(chunk_len);
      dst  <= dst + AddrWidth'(chunk_len);
      left <= left - Cnt'(chunk_len);
    end
endmodule

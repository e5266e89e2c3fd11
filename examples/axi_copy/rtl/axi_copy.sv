// SPDX-License-Identifier: Apache-2.0
// One-dimensional copy engine: `len` bytes from `src` to `dst`, any alignment, over AXI4.
//
//   cmd --> split --> chunks --> AR          R --> buffer --> mover --> AW, W
//                        \--------- queue of chunks ---------^   \--> ends --> B --> rsp
//
// A chunk is one read burst and one write burst. Reads are issued as far ahead as the buffer has
// room and `MaxBursts` allows, across commands; all is done in order. Each command
// gets one response, in order, after its last write response:
//
//   code  0 done | 1, 2 read SLVERR, DECERR | 3, 4 write SLVERR, DECERR | 5 aborted
//   addr  of the first bad burst, for codes 1 to 4
//
// The first error stops the engine, and so does `stop`: bursts in flight finish, no new one
// starts, and commands still in the engine or coming in are answered with code 5, until `clear` is
// high for a clock, which is legal once all of them are answered.
module axi_copy #(
  parameter int AddrWidth   = 40,
  parameter int DataWidth   = 256,    // 128, 256 or 512
  parameter int LenWidth    = 16,
  parameter int MaxBursts   = 16,     // in flight in each direction
  parameter int BufferBytes = 8192    // between reads and writes, 4096 or more
) (
  input  logic                   clk,
  input  logic                   rst_n,
  input  logic                   stop,
  input  logic                   clear,
  input  logic                   cmd_valid,
  output logic                   cmd_ready,
  input  logic [AddrWidth-1:0]   cmd_src,
  input  logic [AddrWidth-1:0]   cmd_dst,
  input  logic [LenWidth-1:0]    cmd_len,
  output logic                   rsp_valid,
  input  logic                   rsp_ready,
  output logic [2:0]             rsp_code,
  output logic [AddrWidth-1:0]   rsp_addr,
  // AXI4 manager for reads
  output logic                   arvalid,
  input  logic                   arready,
  output logic [AddrWidth-1:0]   araddr,
  output logic [7:0]             arlen,
  input  logic                   rvalid,
  output logic                   rready,
  input  logic [DataWidth-1:0]   rdata,
  input  logic [1:0]             rresp,
  input  logic                   rlast,
  // AXI4 manager for writes
  output logic                   awvalid,
  input  logic                   awready,
  output logic [AddrWidth-1:0]   awaddr,
  output logic [7:0]             awlen,
  output logic                   wvalid,
  input  logic                   wready,
  output logic [DataWidth-1:0]   wdata,
  output logic [DataWidth/8-1:0] wstrb,
  output logic                   wlast,
  input  logic                   bvalid,
  output logic                   bready,
  input  logic [1:0]             bresp
);
  localparam int Bytes  = DataWidth / 8;
  localparam int Lane   = $clog2(Bytes);
  localparam int Window = (256 * Bytes < 4096) ? 256 * Bytes : 4096;
  localparam int Chunk  = $clog2(Window) + 1;              // bits of a chunk's length
  localparam int Depth  = BufferBytes / Bytes;             // beats
  localparam int Room   = $clog2(Depth) + 1;
  localparam int Queue  = (MaxBursts < 2) ? 2 : 1 << $clog2(MaxBursts);
  localparam int Count  = $clog2(MaxBursts + 1);

  // --- an error stops everything ---
  logic stopped, halt;
  always_ff @(posedge clk or negedge rst_n)
    if (!rst_n)                                                           stopped <= 1'b0;
    else if ((rvalid && rready && rresp[1]) || (bvalid && bready && bresp[1])) stopped <= 1'b1;
    else if (clear)                                                       stopped <= 1'b0;
  assign halt = stopped || stop;

  // --- chunks and their reads ---
  logic chunk_valid, chunk_ready, chunk_skip, chunk_last;
  logic [AddrWidth-1:0] chunk_src, chunk_dst;
  logic [Chunk-1:0] chunk_len;

  axi_copy_split #(.AddrWidth(AddrWidth), .LenWidth(LenWidth), .Window(Window)) split (
    .clk, .rst_n, .stop(halt),
    .cmd_valid, .cmd_ready, .cmd_src, .cmd_dst, .cmd_len,
    .chunk_valid, .chunk_ready, .chunk_skip, .chunk_last, .chunk_src, .chunk_dst, .chunk_len
  );

  logic [Chunk:0]   read_sum;
  logic [Room-1:0]  read_beats, room;       // room: free beats of the buffer
  logic [Count-1:0] reads, writes;          // bursts in flight
  logic queue_full, read_start, beat_take, read_end;
  assign read_sum   = {1'b0, chunk_len} + (Chunk+1)'(chunk_src[Lane-1:0]) + (Chunk+1)'(Bytes - 1);
  assign read_beats = Room'(read_sum[Chunk:Lane]);

  assign chunk_ready = !queue_full &&
      (chunk_skip || (!arvalid && room >= read_beats && reads != Count'(MaxBursts)));
  assign read_start  = chunk_valid && chunk_ready && !chunk_skip;
  assign read_end    = rvalid && rready && rlast;

  always_ff @(posedge clk or negedge rst_n)
    if (!rst_n) begin
      arvalid <= 1'b0;
      reads   <= '0;
      room    <= Room'(Depth);
    end else begin
      if (read_start)   arvalid <= 1'b1;
      else if (arready) arvalid <= 1'b0;
      reads <= reads + Count'(read_start) - Count'(read_end);
      room  <= room - (read_start ? read_beats : '0) + Room'(beat_take);
    end

  logic [Room-1:0] read_less;
  assign read_less = read_beats - 1'b1;
  always_ff @(posedge clk)
    if (read_start) begin
      araddr <= {chunk_src[AddrWidth-1:Lane], {Lane{1'b0}}};
      arlen  <= 8'(read_less);
    end

  logic next_valid, next_take, next_skip, next_last;
  logic [AddrWidth-1:0] next_src, next_dst;
  logic [Chunk-1:0] next_len;
  axi_copy_fifo #(.Width(2 + 2 * AddrWidth + Chunk), .Depth(Queue)) queue (
    .clk, .rst_n,
    .push(chunk_valid && chunk_ready), .full(queue_full),
    .din({chunk_skip, chunk_last, chunk_src, chunk_dst, chunk_len}),
    .valid(next_valid), .pop(next_take),
    .dout({next_skip, next_last, next_src, next_dst, next_len})
  );

  // --- read data; there is always room, so RREADY never falls ---
  logic beat_valid, buffer_full;
  logic [1:0] beat_resp;
  logic [DataWidth-1:0] beat_data;
  axi_copy_fifo #(.Width(DataWidth + 2), .Depth(Depth)) buffer (
    .clk, .rst_n,
    .push(rvalid && rready), .full(buffer_full), .din({rresp, rdata}),
    .valid(beat_valid), .pop(beat_take), .dout({beat_resp, beat_data})
  );
  assign rready = !buffer_full;

  // --- writes ---
  logic aw_start, end_valid, end_full, end_last, end_wrote;
  logic [2:0] end_code;
  logic [AddrWidth-1:0] end_addr;
  axi_copy_mover #(.AddrWidth(AddrWidth), .DataWidth(DataWidth), .ChunkBits(Chunk)) mover (
    .clk, .rst_n, .stop(halt),
    .chunk_valid(next_valid), .chunk_take(next_take), .chunk_skip(next_skip),
    .chunk_last(next_last), .chunk_src(next_src), .chunk_dst(next_dst), .chunk_len(next_len),
    .beat_valid, .beat_take, .beat_resp, .beat_data,
    .may_write(writes != Count'(MaxBursts)), .aw_start,
    .awvalid, .awready, .awaddr, .awlen, .wvalid, .wready, .wdata, .wstrb, .wlast,
    .end_valid, .end_room(!end_full), .end_last, .end_wrote, .end_code, .end_addr
  );

  // --- chunks wait for their write response, commands for their last chunk ---
  logic tail_valid, tail_take, tail_last, tail_wrote;
  logic [2:0] tail_code;
  logic [AddrWidth-1:0] tail_addr;
  axi_copy_fifo #(.Width(5 + AddrWidth), .Depth(Queue)) ends (
    .clk, .rst_n,
    .push(end_valid), .full(end_full), .din({end_last, end_wrote, end_code, end_addr}),
    .valid(tail_valid), .pop(tail_take), .dout({tail_last, tail_wrote, tail_code, tail_addr})
  );

  localparam logic [2:0] CodeOk = 3'd0, CodeWriteSlave = 3'd3, CodeWriteDecode = 3'd4,
                         CodeAborted = 3'd5;
  logic rsp_free, write_end;
  logic [2:0] code, chunk_code, code_now;   // code: of the command so far
  logic [AddrWidth-1:0] addr, addr_now;
  assign rsp_free   = !rsp_valid || rsp_ready;
  assign bready     = tail_valid && tail_wrote && rsp_free;
  assign write_end  = bvalid && bready;
  assign tail_take  = tail_valid && rsp_free && (!tail_wrote || bvalid);
  assign chunk_code = (tail_code != CodeOk || !tail_wrote || !bresp[1]) ? tail_code
                    : bresp[0] ? CodeWriteDecode : CodeWriteSlave;
  // The first error counts; an abort is not an error.
  logic known;
  assign known    = code != CodeOk && (code != CodeAborted || chunk_code == CodeOk);
  assign code_now = known ? code : chunk_code;
  assign addr_now = known ? addr : tail_addr;

  always_ff @(posedge clk or negedge rst_n)
    if (!rst_n) begin
      rsp_valid <= 1'b0;
      code      <= CodeOk;
      writes    <= '0;
    end else begin
      if (tail_take && tail_last) rsp_valid <= 1'b1;
      else if (rsp_ready)         rsp_valid <= 1'b0;
      if (tail_take) code <= tail_last ? CodeOk : code_now;
      writes <= writes + Count'(aw_start) - Count'(write_end);
    end

  always_ff @(posedge clk)
    if (tail_take) begin
      addr <= addr_now;
      if (tail_last) begin
        rsp_code <= code_now;
        rsp_addr <= addr_now;
      end
    end
endmodule

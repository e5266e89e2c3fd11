// SPDX-License-Identifier: Apache-2.0
//
// A two-dimensional DMA with registers, of the kind found in microcontrollers: copies ROWS rows of
// ROW_LEN bytes from an SRAM to addresses on an AXI4 bus. One job at a time; registers are written
// over APB3, the end of a job is an interrupt (level). Any byte alignment, length and stride.
// An error on the bus or of the SRAM ends the job: STATUS has the kind, ERR_ADDR the place.
// README.md has the register map and a diagram. One beat a clock; START to the first SRAM request:
// 2 clocks.
`default_nettype none

module reg_dma #(
  parameter integer AddrWidth    = 40,       // bits of a bus address, 33 to 64
  parameter integer BusWidth     = 256,      // bits of the AXI data
  parameter integer MemWidth     = 256,      // bits of an SRAM word
  parameter integer MemAddrWidth = 19,       // bits of an SRAM byte address, at most 31
  parameter integer IdWidth      = 4,        // bits of the AXI IDs, which are 0
  parameter integer NumBursts    = 4,        // AXI bursts in flight
  parameter integer MaxBeats     = 16,       // beats of a burst
  parameter integer DepthBits    = 5         // log2 of the SRAM words in flight and stored
) (
  input  wire                    clk,
  input  wire                    rst_n,      // asynchronous, active low
  // control: APB3
  input  wire                    psel,
  input  wire                    penable,
  input  wire                    pwrite,
  input  wire [7:0]              paddr,
  input  wire [31:0]             pwdata,
  output wire [31:0]             prdata,
  output wire                    pready,
  output wire                    pslverr,
  output wire                    irq,        // a job has ended; high until IRQ_CLEAR
  // source: SRAM
  output wire                    mem_req,    // stable until granted
  input  wire                    mem_gnt,
  output wire [MemAddrWidth-1:0] mem_addr,   // byte address, a multiple of the word
  input  wire                    mem_rvalid, // answers in order, any number of clocks later
  input  wire [MemWidth-1:0]     mem_rdata,
  input  wire                    mem_rerr,
  // destination: AXI4, writes only
  output wire [IdWidth-1:0]      awid,
  output wire [AddrWidth-1:0]    awaddr,
  output wire [7:0]              awlen,
  output wire [2:0]              awsize,
  output wire [1:0]              awburst,
  output wire                    awvalid,
  input  wire                    awready,
  output wire [BusWidth-1:0]     wdata,
  output wire [BusWidth/8-1:0]   wstrb,
  output wire                    wlast,
  output wire                    wvalid,
  input  wire                    wready,
  input  wire [1:0]              bresp,
  input  wire                    bvalid,
  output wire                    bready
);
  localparam integer LaneBits = $clog2(MemWidth / 8);

  localparam [2:0] ERR_SLAVE  = 3'd1;
  localparam [2:0] ERR_DECODE = 3'd2;
  localparam [2:0] ERR_SRAM   = 3'd3;

  wire                    start;
  wire [MemAddrWidth-1:0] src, src_stride;
  wire [AddrWidth-1:0]    dst, dst_stride;
  wire [15:0]             row_len, rows;
  wire                    rd_idle, rd_error, wr_idle, wr_error, wr_decode;
  wire [MemAddrWidth-1:0] rd_error_addr;
  wire [AddrWidth-1:0]    wr_error_addr;
  wire                    word_valid, word_ready;
  wire [MemWidth-1:0]     word_data;
  wire [LaneBits-1:0]     word_lane;
  wire [LaneBits:0]       word_bytes;

  // ---- the first error of a job ends it ----
  reg [2:0]           error_q;
  reg [AddrWidth-1:0] error_addr_q;
  wire                abort = error_q != 3'd0;

  always @(posedge clk or negedge rst_n) begin
    if (!rst_n) error_q <= 3'd0;
    else if (start) error_q <= 3'd0;
    else if (!abort && rd_error) error_q <= ERR_SRAM;
    else if (!abort && wr_error) error_q <= wr_decode ? ERR_DECODE : ERR_SLAVE;
  end

  always @(posedge clk) begin
    if (!abort)
      error_addr_q <= rd_error ? {{(AddrWidth - MemAddrWidth){1'b0}}, rd_error_addr}
                    : wr_error ? wr_error_addr : {AddrWidth{1'b0}};
  end

  reg_dma_regs #(
    .AddrWidth    (AddrWidth),
    .MemAddrWidth (MemAddrWidth)
  ) u_regs (
    .clk        (clk),
    .rst_n      (rst_n),
    .psel       (psel),
    .penable    (penable),
    .pwrite     (pwrite),
    .paddr      (paddr),
    .pwdata     (pwdata),
    .prdata     (prdata),
    .pready     (pready),
    .pslverr    (pslverr),
    .irq        (irq),
    .start      (start),
    .src        (src),
    .dst        (dst),
    .row_len    (row_len),
    .rows       (rows),
    .src_stride (src_stride),
    .dst_stride (dst_stride),
    .idle       (rd_idle && wr_idle),
    .error      (error_q),
    .error_addr (error_addr_q)
  );

  reg_dma_reader #(
    .MemWidth     (MemWidth),
    .MemAddrWidth (MemAddrWidth),
    .DepthBits    (DepthBits)
  ) u_reader (
    .clk        (clk),
    .rst_n      (rst_n),
    .start      (start),
    .src        (src),
    .row_len    (row_len),
    .rows       (rows),
    .src_stride (src_stride),
    .abort      (abort),
    .idle       (rd_idle),
    .error      (rd_error),
    .error_addr (rd_error_addr),
    .mem_req    (mem_req),
    .mem_gnt    (mem_gnt),
    .mem_addr   (mem_addr),
    .mem_rvalid (mem_rvalid),
    .mem_rdata  (mem_rdata),
    .mem_rerr   (mem_rerr),
    .word_valid (word_valid),
    .word_ready (word_ready),
    .word_data  (word_data),
    .word_lane  (word_lane),
    .word_bytes (word_bytes)
  );

  reg_dma_writer #(
    .AddrWidth (AddrWidth),
    .BusWidth  (BusWidth),
    .MemWidth  (MemWidth),
    .IdWidth   (IdWidth),
    .NumBursts (NumBursts),
    .MaxBeats  (MaxBeats)
  ) u_writer (
    .clk          (clk),
    .rst_n        (rst_n),
    .start        (start),
    .dst          (dst),
    .row_len      (row_len),
    .rows         (rows),
    .dst_stride   (dst_stride),
    .abort        (abort),
    .idle         (wr_idle),
    .error        (wr_error),
    .error_decode (wr_decode),
    .error_addr   (wr_error_addr),
    .word_valid   (word_valid),
    .word_ready   (word_ready),
    .word_data    (word_data),
    .word_lane    (word_lane),
    .word_bytes   (word_bytes),
    .awid         (awid),
    .awaddr       (awaddr),
    .awlen        (awlen),
    .awsize       (awsize),
    .awburst      (awburst),
    .awvalid      (awvalid),
    .awready      (awready),
    .wdata        (wdata),
    .wstrb        (wstrb),
    .wlast        (wlast),
    .wvalid       (wvalid),
    .wready       (wready),
    .bresp        (bresp),
    .bvalid       (bvalid),
    .bready       (bready)
  );
endmodule

`default_nettype wire

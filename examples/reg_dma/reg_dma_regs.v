// SPDX-License-Identifier: Apache-2.0
//
// Registers of reg_dma with an APB3 port. The registers of a job are shadows: reader and writer
// copy them at START, so the next job may be written while one runs. README.md has the map.
// Writes take two clocks, reads three (one wait state). PSLVERR answers an address that holds no
// register, a write of a read-only one, and START while a job runs or its interrupt is not cleared.
//
//   clk      _/~\_/~\_/~\_/~\_/~\_
//   psel     _/~~~~~~~~~~~\_______
//   penable  _____/~~~~~~~\_______
//   pready   _________/~~~\_______     of a read; of a write one clock earlier
`default_nettype none

module reg_dma_regs #(
  parameter integer AddrWidth    = 40,       // bits of a bus address, above 32
  parameter integer MemAddrWidth = 19        // bits of an SRAM address
) (
  input  wire                    clk,
  input  wire                    rst_n,      // asynchronous, active low
  input  wire                    psel,
  input  wire                    penable,
  input  wire                    pwrite,
  input  wire [7:0]              paddr,
  input  wire [31:0]             pwdata,
  output wire [31:0]             prdata,
  output wire                    pready,
  output wire                    pslverr,
  output wire                    irq,        // level, until IRQ_CLEAR
  output wire                    start,      // the job below begins
  output wire [MemAddrWidth-1:0] src,
  output wire [AddrWidth-1:0]    dst,
  output wire [15:0]             row_len,
  output wire [15:0]             rows,
  output wire [MemAddrWidth-1:0] src_stride,
  output wire [AddrWidth-1:0]    dst_stride,
  input  wire                    idle,       // reader and writer have ended
  input  wire [2:0]              error,      // first error of the job, 0 none
  input  wire [AddrWidth-1:0]    error_addr
);
  localparam [31:0] IDENT = 32'h2DDA_0100;   // product 2DDA, version 1.0

  localparam [7:0] ID            = 8'h00;
  localparam [7:0] CTRL          = 8'h04;
  localparam [7:0] STATUS        = 8'h08;
  localparam [7:0] IRQ_CLEAR     = 8'h0C;
  localparam [7:0] SRC           = 8'h10;
  localparam [7:0] SRC_STRIDE    = 8'h14;
  localparam [7:0] ROW_LEN       = 8'h18;
  localparam [7:0] ROWS          = 8'h1C;
  localparam [7:0] DST_LO        = 8'h20;
  localparam [7:0] DST_HI        = 8'h24;
  localparam [7:0] DST_STRIDE_LO = 8'h28;
  localparam [7:0] DST_STRIDE_HI = 8'h2C;
  localparam [7:0] ERR_ADDR_LO   = 8'h30;
  localparam [7:0] ERR_ADDR_HI   = 8'h34;

  localparam [2:0] ERR_PARAMETER = 3'd4;     // a job without rows or bytes

  reg                    irq_en_q;
  reg                    busy_q;
  reg                    done_q;
  reg [2:0]              error_q;
  reg [AddrWidth-1:0]    error_addr_q;
  reg [MemAddrWidth-1:0] src_q;
  reg [MemAddrWidth-1:0] src_stride_q;
  reg [15:0]             row_len_q;
  reg [15:0]             rows_q;
  reg [AddrWidth-1:0]    dst_q;
  reg [AddrWidth-1:0]    dst_stride_q;

  // ---- bus ----
  reg         read_q;                        // read data are valid
  reg [31:0]  prdata_q;
  reg [31:0]  value;
  reg         known;
  reg         writable;

  always @* begin
    known    = 1'b1;
    writable = 1'b1;
    value    = 32'd0;
    case (paddr)
      ID:            begin value = IDENT; writable = 1'b0; end
      CTRL:          value = {30'd0, irq_en_q, 1'b0};
      STATUS:        begin value = {25'd0, error_q, 2'd0, done_q, busy_q}; writable = 1'b0; end
      IRQ_CLEAR:     value = 32'd0;
      SRC:           value = {{(32 - MemAddrWidth){1'b0}}, src_q};
      SRC_STRIDE:    value = {{(32 - MemAddrWidth){1'b0}}, src_stride_q};
      ROW_LEN:       value = {16'd0, row_len_q};
      ROWS:          value = {16'd0, rows_q};
      DST_LO:        value = dst_q[31:0];
      DST_HI:        value = {{(64 - AddrWidth){1'b0}}, dst_q[AddrWidth-1:32]};
      DST_STRIDE_LO: value = dst_stride_q[31:0];
      DST_STRIDE_HI: value = {{(64 - AddrWidth){1'b0}}, dst_stride_q[AddrWidth-1:32]};
      ERR_ADDR_LO:   begin value = error_addr_q[31:0]; writable = 1'b0; end
      ERR_ADDR_HI: begin
        value    = {{(64 - AddrWidth){1'b0}}, error_addr_q[AddrWidth-1:32]};
        writable = 1'b0;
      end
      default:       begin known = 1'b0; writable = 1'b0; end
    endcase
  end

  wire asks_start = pwrite && paddr == CTRL && pwdata[0];
  wire refused    = asks_start && (busy_q || done_q);

  assign pready  = pwrite || read_q;
  assign pslverr = psel && penable && pready && (!known || (pwrite && !writable) || refused);
  assign prdata  = prdata_q;

  wire wr_en = psel && penable && pwrite && !pslverr;

  // ---- job ----
  wire empty = row_len_q == 16'd0 || rows_q == 16'd0;
  wire begins = wr_en && asks_start;
  assign start = begins && !empty;

  always @(posedge clk or negedge rst_n) begin
    if (!rst_n) begin
      read_q       <= 1'b0;
      irq_en_q     <= 1'b0;
      busy_q       <= 1'b0;
      done_q       <= 1'b0;
      error_q      <= 3'd0;
      error_addr_q <= {AddrWidth{1'b0}};
      src_q        <= {MemAddrWidth{1'b0}};
      src_stride_q <= {MemAddrWidth{1'b0}};
      row_len_q    <= 16'd0;
      rows_q       <= 16'd0;
      dst_q        <= {AddrWidth{1'b0}};
      dst_stride_q <= {AddrWidth{1'b0}};
    end else begin
      read_q <= psel && penable && !pwrite && !read_q;

      if (begins) busy_q <= 1'b1;
      else if (idle) busy_q <= 1'b0;
      if (begins) error_q <= empty ? ERR_PARAMETER : 3'd0;
      else if (busy_q && idle && error_q == 3'd0) begin
        error_q      <= error;
        error_addr_q <= error_addr;
      end
      if (busy_q && idle) done_q <= 1'b1;
      else if (wr_en && paddr == IRQ_CLEAR && pwdata[0]) done_q <= 1'b0;

      if (wr_en) begin
        case (paddr)
          CTRL:          irq_en_q                     <= pwdata[1];
          SRC:           src_q                        <= pwdata[MemAddrWidth-1:0];
          SRC_STRIDE:    src_stride_q                 <= pwdata[MemAddrWidth-1:0];
          ROW_LEN:       row_len_q                    <= pwdata[15:0];
          ROWS:          rows_q                       <= pwdata[15:0];
          DST_LO:        dst_q[31:0]                  <= pwdata;
          DST_HI:        dst_q[AddrWidth-1:32]        <= pwdata[AddrWidth-33:0];
          DST_STRIDE_LO: dst_stride_q[31:0]           <= pwdata;
          DST_STRIDE_HI: dst_stride_q[AddrWidth-1:32] <= pwdata[AddrWidth-33:0];
          default: ;
        endcase
      end
    end
  end

  always @(posedge clk) prdata_q <= value;

  assign irq        = done_q && irq_en_q;
  assign src        = src_q;
  assign dst        = dst_q;
  assign row_len    = row_len_q;
  assign rows       = rows_q;
  assign src_stride = src_stride_q;
  assign dst_stride = dst_stride_q;
endmodule

`default_nettype wire

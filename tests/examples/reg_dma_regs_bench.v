// SPDX-License-Identifier: Apache-2.0
// Plays a CPU for the registers of examples/reg_dma: what the adapter never does. Prints a line for
// each difference and "done" at the end. Simulation only.
`default_nettype none
`timescale 1ns / 1ps

module reg_dma_regs_bench;
  reg clk = 1'b0;
  reg rst_n = 1'b0;
  reg psel = 1'b0, penable = 1'b0, pwrite = 1'b0;
  reg [7:0] paddr = 8'd0;
  reg [31:0] pwdata = 32'd0;
  wire [31:0] prdata;
  wire pready, pslverr, irq, start;
  wire [18:0] src, src_stride;
  wire [39:0] dst, dst_stride;
  wire [15:0] row_len, rows;
  reg idle = 1'b1;
  reg [2:0] error = 3'd0;
  reg [39:0] error_addr = 40'd0;
  integer starts = 0;

  reg_dma_regs u_dut (
      .clk(clk),
      .rst_n(rst_n),
      .psel(psel),
      .penable(penable),
      .pwrite(pwrite),
      .paddr(paddr),
      .pwdata(pwdata),
      .prdata(prdata),
      .pready(pready),
      .pslverr(pslverr),
      .irq(irq),
      .start(start),
      .src(src),
      .dst(dst),
      .row_len(row_len),
      .rows(rows),
      .src_stride(src_stride),
      .dst_stride(dst_stride),
      .idle(idle),
      .error(error),
      .error_addr(error_addr)
  );

  always #5 clk = !clk;
  always @(posedge clk) if (start) starts = starts + 1;

  task access(input write, input [7:0] addr, input [31:0] data, input refused);
    begin
      @(negedge clk) {psel, penable, pwrite, paddr, pwdata} = {2'b10, write, addr, data};
      @(negedge clk) penable = 1'b1;
      #1 while (!pready) @(negedge clk) #1;
      if (pslverr !== refused) $display("%h: PSLVERR %b", addr, pslverr);
      #1 if (!write && !refused && prdata !== data) $display("%h: %h, not %h", addr, prdata, data);
      @(negedge clk) {psel, penable} = 2'b00;
    end
  endtask

  task expect_bits(input [127:0] what, input [39:0] got, input [39:0] wanted);
    if (got !== wanted) $display("%0s: %h, not %h", what, got, wanted);
  endtask

  initial begin
    repeat (2) @(negedge clk) rst_n = 1'b1;
    access(0, 8'h00, 32'h2DDA_0100, 0);
    access(0, 8'h04, 32'd0, 0);
    access(0, 8'h08, 32'd0, 0);
    // What is no register, and what cannot be written.
    access(0, 8'h38, 32'd0, 1);
    access(1, 8'hFC, 32'd0, 1);
    access(1, 8'h00, 32'd0, 1);
    access(1, 8'h08, 32'd0, 1);
    access(1, 8'h30, 32'd0, 1);
    access(1, 8'h34, 32'd0, 1);
    // Every bit that is there is kept, no other.
    access(1, 8'h10, 32'hFFFF_FFFF, 0);
    access(0, 8'h10, 32'h0007_FFFF, 0);
    access(1, 8'h14, 32'hFFF5_5AA5, 0);
    access(0, 8'h14, 32'h0005_5AA5, 0);
    access(1, 8'h20, 32'h89AB_CDEF, 0);
    access(1, 8'h24, 32'hFFFF_FF67, 0);
    access(0, 8'h24, 32'h0000_0067, 0);
    access(1, 8'h28, 32'h7654_3210, 0);
    access(1, 8'h2C, 32'h0000_01FE, 0);
    access(0, 8'h2C, 32'h0000_00FE, 0);
    expect_bits("dst", dst, 40'h67_89AB_CDEF);
    expect_bits("dst_stride", dst_stride, 40'hFE_7654_3210);
    // A job without bytes does not begin, but ends, with an error; nobody asked for an interrupt.
    access(1, 8'h1C, 32'h0001_0003, 0);
    access(1, 8'h04, 32'd1, 0);
    access(0, 8'h08, 32'h42, 0);
    expect_bits("starts, no bytes", starts, 0);
    expect_bits("irq, not enabled", irq, 0);
    access(1, 8'h04, 32'd1, 1);  // not cleared yet
    access(1, 8'h0C, 32'd0, 0);  // clears nothing
    access(0, 8'h08, 32'h42, 0);
    access(1, 8'h0C, 32'd1, 0);
    access(0, 8'h08, 32'h40, 0);
    // A job: shadows may be written, another START may not.
    access(1, 8'h18, 32'h0000_0011, 0);
    idle = 1'b0;
    access(1, 8'h04, 32'd3, 0);
    expect_bits("starts", starts, 1);
    access(0, 8'h08, 32'h01, 0);
    access(1, 8'h18, 32'h0000_0022, 0);
    access(1, 8'h04, 32'd3, 1);
    expect_bits("starts, busy", starts, 1);
    expect_bits("irq, busy", irq, 0);
    @(negedge clk) {error, error_addr} = {3'd2, 40'h12_3456_789A};
    idle = 1'b1;
    repeat (2) @(negedge clk);
    {error, error_addr} = {3'd0, 40'd0};
    expect_bits("irq", irq, 1);
    access(0, 8'h08, 32'h22, 0);
    access(0, 8'h30, 32'h3456_789A, 0);
    access(0, 8'h34, 32'h0000_0012, 0);
    access(1, 8'h0C, 32'd1, 0);
    expect_bits("irq, cleared", irq, 0);
    // The next job forgets the error.
    access(1, 8'h04, 32'd3, 0);
    repeat (2) @(negedge clk);
    access(0, 8'h08, 32'h02, 0);
    expect_bits("row_len", row_len, 16'h22);
    expect_bits("rows", rows, 16'h3);
    rst_n = 1'b0;
    #1 expect_bits("irq, reset", irq, 0);
    $display("done");
    $finish;
  end
endmodule

`default_nettype wire

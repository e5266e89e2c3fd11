// SPDX-License-Identifier: Apache-2.0
// The GM port of one slot as pins for an AXI memory written in Python, in place of pto_axi_mem.v.
// Included by pto_slot.vh when PTO_AXI_PINS is defined. Such a memory samples at a rising edge and
// must get the values before it, which Verilator guarantees only for edges that Python drives:
// Python also drives the clock.
// Writes of the engine also go to the C memory, which counts written bytes and pages and keeps the
// write stamps; its GM is not read here. Simulation only.

wire [     AxiIdWidth-1:0] m_axi_arid = arid;
wire [    GmAddrWidth-1:0] m_axi_araddr = araddr;
wire [                7:0] m_axi_arlen = arlen;
wire [                2:0] m_axi_arsize = arsize;
wire [                1:0] m_axi_arburst = arburst;
wire                       m_axi_arvalid = arvalid;
reg                        m_axi_arready = 1'b0;
reg  [     AxiIdWidth-1:0] m_axi_rid = {AxiIdWidth{1'b0}};
reg  [    GmDataWidth-1:0] m_axi_rdata = {GmDataWidth{1'b0}};
reg  [                1:0] m_axi_rresp = 2'd0;
reg                        m_axi_rlast = 1'b0;
reg                        m_axi_rvalid = 1'b0;
wire                       m_axi_rready = rready;
wire [     AxiIdWidth-1:0] m_axi_awid = awid;
wire [    GmAddrWidth-1:0] m_axi_awaddr = awaddr;
wire [                7:0] m_axi_awlen = awlen;
wire [                2:0] m_axi_awsize = awsize;
wire [                1:0] m_axi_awburst = awburst;
wire                       m_axi_awvalid = awvalid;
reg                        m_axi_awready = 1'b0;
wire [    GmDataWidth-1:0] m_axi_wdata = wdata;
wire [  GmDataWidth/8-1:0] m_axi_wstrb = wstrb;
wire                       m_axi_wlast = wlast;
wire                       m_axi_wvalid = wvalid;
reg                        m_axi_wready = 1'b0;
reg  [     AxiIdWidth-1:0] m_axi_bid = {AxiIdWidth{1'b0}};
reg  [                1:0] m_axi_bresp = 2'd0;
reg                        m_axi_bvalid = 1'b0;
wire                       m_axi_bready = bready;

assign arready = m_axi_arready;
assign rid = m_axi_rid;
assign rdata = m_axi_rdata;
assign rresp = m_axi_rresp;
assign rlast = m_axi_rlast;
assign rvalid = m_axi_rvalid;
assign awready = m_axi_awready;
assign wready = m_axi_wready;
assign bid = m_axi_bid;
assign bresp = m_axi_bresp;
assign bvalid = m_axi_bvalid;

integer mirrored;
reg [7:0] reads_q = 8'd0;  // bursts before their last R, and their beats
reg [15:0] read_beats_q = 16'd0;

assign reads = reads_q;
assign read_beats = read_beats_q - {15'd0, rvalid};
assign r_stalls = 32'd0;  // stalls of the memory are not known
assign b_stalls = 32'd0;

always @(posedge `PTO_SLOT_PIN(clk)) begin
  if (!rst_n) begin
    reads_q = 8'd0;
    read_beats_q = 16'd0;
  end else begin
    if (arvalid && arready) begin
      reads_q = reads + 8'd1;
      read_beats_q = read_beats_q + {8'd0, arlen} + 16'd1;
    end
    if (rvalid && rready) begin
      if (rlast) reads_q = reads_q - 8'd1;
      read_beats_q = read_beats_q - 16'd1;
    end
    if (awvalid && awready)
      mirrored = `PTO_AXI_AW(`PTO_SLOT_INDEX, awaddr, awlen, GmDataWidth / 8);
    if (wvalid && wready)
      mirrored = `PTO_AXI_W(`PTO_SLOT_INDEX, GmDataWidth / 8, wstrb, wdata);
    if (bvalid && bready) `PTO_AXI_B(`PTO_SLOT_INDEX);
  end
end

// SPDX-License-Identifier: Apache-2.0
// The GM port of one slot as pins for an AXI memory written in Python, in place of pto_axi_mem.v.
// Included by pto_slot.vh when PTO_AXI_PINS is defined. Such a memory samples at a rising edge and
// must get the values before it, which Verilator guarantees only for edges that Python drives:
// Python also drives the clock.
// Writes of the engine also go to the C memory, which counts written bytes and pages and keeps the
// write stamps; its GM is not read here. Simulation only.

initial begin
  {m_axi_arready, m_axi_rvalid, m_axi_awready, m_axi_wready, m_axi_bvalid} = 5'd0;
  {m_axi_rid, m_axi_rdata, m_axi_rresp, m_axi_rlast} = {AxiIdWidth + GmDataWidth + 3{1'b0}};
  {m_axi_bid, m_axi_bresp} = {AxiIdWidth + 2{1'b0}};
end

integer mirrored;
reg [7:0] reads_q = 8'd0;  // bursts before their last R, and their beats
reg [15:0] read_beats_q = 16'd0;

assign reads = reads_q;
assign read_beats = read_beats_q - {15'd0, m_axi_rvalid};
assign r_stalls = 32'd0;  // stalls of the memory are not known
assign b_stalls = 32'd0;

always @(posedge `PTO_SLOT_PIN(clk)) begin
  if (!rst_n) begin
    reads_q = 8'd0;
    read_beats_q = 16'd0;
  end else begin
    if (m_axi_arvalid && m_axi_arready) begin
      reads_q = reads + 8'd1;
      read_beats_q = read_beats_q + {8'd0, m_axi_arlen} + 16'd1;
    end
    if (m_axi_rvalid && m_axi_rready) begin
      if (m_axi_rlast) reads_q = reads_q - 8'd1;
      read_beats_q = read_beats_q - 16'd1;
    end
    if (m_axi_awvalid && m_axi_awready)
      mirrored = `PTO(axi_aw)(`PTO_SLOT_INDEX, m_axi_awaddr, m_axi_awlen, GmDataWidth / 8);
    if (m_axi_wvalid && m_axi_wready)
      mirrored = `PTO(axi_w)(`PTO_SLOT_INDEX, GmDataWidth / 8, m_axi_wstrb, m_axi_wdata);
    if (m_axi_bvalid && m_axi_bready) `PTO(axi_b)(`PTO_SLOT_INDEX);
  end
end

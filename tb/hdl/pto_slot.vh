// SPDX-License-Identifier: Apache-2.0
// One slot of pto_harness.v: the engine and everything around it. Included once for each slot,
// with these macros set: PTO_SLOT_MODULE the engine, PTO_SLOT_INDEX its number in the mailbox,
// PTO_SLOT_NAME its name, PTO_SLOT_PIN(x) the name of top-level pin x, PTO_SLOT_OUTSTANDING its
// bursts in flight, PTO_SLOT_PARAMETERS more of its parameters; PTO_SLOT_SRC_WIDTH, if the source
// port has a separate width; PTO_SLOT_PAR_FLAG, if there are ports par, as wide as the source port,
// and flag. All modules run on the slot's clock (pto_harness.v).

// Pins for an agent in Python, in use when pin_mode[PTO_SLOT_INDEX] is 1.
reg                 `PTO_SLOT_PIN(desc_valid) = 1'b0;
wire                `PTO_SLOT_PIN(desc_ready);
reg [DescWidth-1:0] `PTO_SLOT_PIN(desc_data) = {DescWidth{1'b0}};
reg [ TagWidth-1:0] `PTO_SLOT_PIN(desc_tag) = {TagWidth{1'b0}};
wire                   `PTO_SLOT_PIN(done_valid);
reg                    `PTO_SLOT_PIN(done_ready) = 1'b0;
wire [   TagWidth-1:0] `PTO_SLOT_PIN(done_tag);
wire [            2:0] `PTO_SLOT_PIN(done_status);
wire [            7:0] `PTO_SLOT_PIN(done_rule);
wire [GmAddrWidth-1:0] `PTO_SLOT_PIN(done_addr);

wire `PTO_SLOT_PIN(active);  // activity: the slot's clock must continue

generate
  if (1) begin : `PTO_SLOT_NAME
    localparam NumOutstanding = `PTO_SLOT_OUTSTANDING;
`ifdef PTO_SLOT_SRC_WIDTH
    localparam SrcDataWidth = `PTO_SLOT_SRC_WIDTH;
`else
    localparam SrcDataWidth = LocalDataWidth;
`endif
    wire desc_valid, desc_ready;
    wire [DescWidth-1:0] desc;
    wire [TagWidth-1:0] desc_tag;
    wire done_valid, done_ready;
    wire [TagWidth-1:0] done_tag;
    wire [2:0] done_status;
    wire [7:0] done_rule;
    wire [GmAddrWidth-1:0] done_addr;
    wire busy;
    wire src_req, src_gnt, src_rvalid, src_err;
    wire [2:0] src_space;
    wire [LocalAddrWidth-1:0] src_addr;
    wire [SrcDataWidth-1:0] src_rdata;
    wire dst_req, dst_gnt, dst_err;
    wire [2:0] dst_space;
    wire [LocalAddrWidth-1:0] dst_addr;
    wire [LocalDataWidth/8-1:0] dst_be;
    wire [LocalDataWidth-1:0] dst_wdata;
    wire [AxiIdWidth-1:0] arid, rid, awid, bid;
    wire [GmAddrWidth-1:0] araddr, awaddr;
    wire [7:0] arlen, awlen;
    wire [2:0] arsize, awsize;
    wire [1:0] arburst, awburst, rresp, bresp;
    wire arvalid, arready, rlast, rvalid, rready, awvalid, awready;
    wire wlast, wvalid, wready, bvalid, bready;
    wire [GmDataWidth-1:0] rdata, wdata;
    wire [GmDataWidth/8-1:0] wstrb;
    wire axi_reads_open, axi_writes_open, axi_offers;
    wire ports_active;
    wire [7:0] reads;
    wire [15:0] read_beats;
    wire [31:0] r_stalls, b_stalls;
    wire [10:0] src_write, src_read, par_write, par_read, flag_write, flag_read;
`ifdef PTO_SLOT_PAR_FLAG
    wire par_req, par_gnt, par_rvalid, par_err;
    wire [2:0] par_space;
    wire [LocalAddrWidth-1:0] par_addr;
    wire [SrcDataWidth-1:0] par_rdata;
    wire flag_req, flag_gnt, flag_clear, flag_rvalid;
    wire [3:0] flag_addr;
    wire [31:0] flag_mask, flag_rdata;
    wire par_flag_active;
    assign `PTO_SLOT_PIN(active) = ports_active || par_flag_active;
`else
    assign `PTO_SLOT_PIN(active) = ports_active;
    wire par_req = 1'b0, par_gnt = 1'b0, par_rvalid = 1'b0;
    wire flag_req = 1'b0, flag_gnt = 1'b0, flag_clear = 1'b0, flag_rvalid = 1'b0;
    assign {par_write, par_read, flag_write, flag_read} = 44'd0;
`endif

    assign `PTO_SLOT_PIN(desc_ready) = desc_ready;
    assign `PTO_SLOT_PIN(done_valid) = done_valid;
    assign `PTO_SLOT_PIN(done_tag) = done_tag;
    assign `PTO_SLOT_PIN(done_status) = done_status;
    assign `PTO_SLOT_PIN(done_rule) = done_rule;
    assign `PTO_SLOT_PIN(done_addr) = done_addr;

    `PTO_SLOT_MODULE #(
`ifdef PTO_SLOT_SRC_WIDTH
        .SrcDataWidth(SrcDataWidth),
`endif
        .GmDataWidth(GmDataWidth),
        .LocalDataWidth(LocalDataWidth),
        .TagWidth(TagWidth),
        .NumOutstanding(NumOutstanding)
        `PTO_SLOT_PARAMETERS
    ) u_engine (
        .clk_i(`PTO_SLOT_PIN(clk)),
        .rst_ni(rst_n),
        .desc_valid_i(desc_valid),
        .desc_ready_o(desc_ready),
        .desc_i(desc),
        .desc_tag_i(desc_tag),
        .done_valid_o(done_valid),
        .done_ready_i(done_ready),
        .done_tag_o(done_tag),
        .done_status_o(done_status),
        .done_rule_o(done_rule),
        .done_addr_o(done_addr),
        .busy_o(busy),
        .src_req_o(src_req),
        .src_gnt_i(src_gnt),
        .src_space_o(src_space),
        .src_addr_o(src_addr),
        .src_rvalid_i(src_rvalid),
        .src_rdata_i(src_rdata),
        .src_err_i(src_err),
        .dst_req_o(dst_req),
        .dst_gnt_i(dst_gnt),
        .dst_space_o(dst_space),
        .dst_addr_o(dst_addr),
        .dst_be_o(dst_be),
        .dst_wdata_o(dst_wdata),
        .dst_err_i(dst_err),
`ifdef PTO_SLOT_PAR_FLAG
        .par_req_o(par_req),
        .par_gnt_i(par_gnt),
        .par_space_o(par_space),
        .par_addr_o(par_addr),
        .par_rvalid_i(par_rvalid),
        .par_rdata_i(par_rdata),
        .par_err_i(par_err),
        .flag_req_o(flag_req),
        .flag_gnt_i(flag_gnt),
        .flag_clear_o(flag_clear),
        .flag_addr_o(flag_addr),
        .flag_mask_o(flag_mask),
        .flag_rvalid_i(flag_rvalid),
        .flag_rdata_i(flag_rdata),
`endif
        .m_axi_arid(arid),
        .m_axi_araddr(araddr),
        .m_axi_arlen(arlen),
        .m_axi_arsize(arsize),
        .m_axi_arburst(arburst),
        .m_axi_arvalid(arvalid),
        .m_axi_arready(arready),
        .m_axi_rid(rid),
        .m_axi_rdata(rdata),
        .m_axi_rresp(rresp),
        .m_axi_rlast(rlast),
        .m_axi_rvalid(rvalid),
        .m_axi_rready(rready),
        .m_axi_awid(awid),
        .m_axi_awaddr(awaddr),
        .m_axi_awlen(awlen),
        .m_axi_awsize(awsize),
        .m_axi_awburst(awburst),
        .m_axi_awvalid(awvalid),
        .m_axi_awready(awready),
        .m_axi_wdata(wdata),
        .m_axi_wstrb(wstrb),
        .m_axi_wlast(wlast),
        .m_axi_wvalid(wvalid),
        .m_axi_wready(wready),
        .m_axi_bid(bid),
        .m_axi_bresp(bresp),
        .m_axi_bvalid(bvalid),
        .m_axi_bready(bready)
    );

    pto_desc_feeder #(
        .Slot(`PTO_SLOT_INDEX),
        .DescWidth(DescWidth),
        .TagWidth(TagWidth)
    ) u_feeder (
        .clk_i(`PTO_SLOT_PIN(clk)),
        .rst_ni(rst_n),
        .avail_i(avail[`PTO_SLOT_INDEX]),
        .pin_mode_i(pin_mode[`PTO_SLOT_INDEX]),
        .copy_pins_i(copy_pins),
        .pin_valid_i(`PTO_SLOT_PIN(desc_valid)),
        .pin_desc_i(`PTO_SLOT_PIN(desc_data)),
        .pin_tag_i(`PTO_SLOT_PIN(desc_tag)),
        .valid_o(desc_valid),
        .ready_i(desc_ready),
        .desc_o(desc),
        .tag_o(desc_tag)
    );

    pto_done_monitor #(
        .Slot(`PTO_SLOT_INDEX),
        .TagWidth(TagWidth),
        .GmAddrWidth(GmAddrWidth)
    ) u_monitor (
        .clk_i(`PTO_SLOT_PIN(clk)),
        .rst_ni(rst_n),
        .seed_i(seed),
        .reseed_i(reseed),
        .stall_i(stall_done),
        .after_valid_i(ready_after_valid[7]),
        .pin_mode_i(pin_mode[`PTO_SLOT_INDEX]),
        .copy_pins_i(copy_pins),
        .pin_ready_i(`PTO_SLOT_PIN(done_ready)),
        .valid_i(done_valid),
        .ready_o(done_ready),
        .tag_i(done_tag),
        .status_i(done_status),
        .rule_i(done_rule),
        .addr_i(done_addr)
    );

`ifdef PTO_AXI_PINS
    `include "pto_axi_pins.vh"
`else
    pto_axi_mem #(
        .Slot(`PTO_SLOT_INDEX),
        .AddrWidth(GmAddrWidth),
        .DataWidth(GmDataWidth),
        .IdWidth(AxiIdWidth)
    ) u_gm (
        .clk_i(`PTO_SLOT_PIN(clk)),
        .rst_ni(rst_n),
        .cycle_i(cycle),
        .seed_i(seed),
        .reseed_i(reseed),
        .read_latency_i(axi_read_latency),
        .write_latency_i(axi_write_latency),
        .read_jitter_i(axi_read_jitter),
        .write_jitter_i(axi_write_jitter),
        .stall_ar_i(stall_ar),
        .stall_r_i(stall_r),
        .stall_aw_i(stall_aw),
        .stall_w_i(stall_w),
        .stall_b_i(stall_b),
        .max_outstanding_i(max_outstanding),
        .w_after_aw_i(w_after_aw),
        .after_valid_i(ready_after_valid[2:0]),
        .reads_o(reads),
        .read_beats_o(read_beats),
        .r_stalls_o(r_stalls),
        .b_stalls_o(b_stalls),
        .s_axi_arid(arid),
        .s_axi_araddr(araddr),
        .s_axi_arlen(arlen),
        .s_axi_arvalid(arvalid),
        .s_axi_arready(arready),
        .s_axi_rid(rid),
        .s_axi_rdata(rdata),
        .s_axi_rresp(rresp),
        .s_axi_rlast(rlast),
        .s_axi_rvalid(rvalid),
        .s_axi_rready(rready),
        .s_axi_awid(awid),
        .s_axi_awaddr(awaddr),
        .s_axi_awlen(awlen),
        .s_axi_awvalid(awvalid),
        .s_axi_awready(awready),
        .s_axi_wdata(wdata),
        .s_axi_wstrb(wstrb),
        .s_axi_wlast(wlast),
        .s_axi_wvalid(wvalid),
        .s_axi_wready(wready),
        .s_axi_bid(bid),
        .s_axi_bresp(bresp),
        .s_axi_bvalid(bvalid),
        .s_axi_bready(bready)
    );
`endif

    pto_local_port #(
        .Slot(`PTO_SLOT_INDEX),
        .AddrWidth(LocalAddrWidth),
        .SrcDataWidth(SrcDataWidth),
        .DstDataWidth(LocalDataWidth)
    ) u_local (
        .clk_i(`PTO_SLOT_PIN(clk)),
        .rst_ni(rst_n),
        .cycle_i(cycle),
        .seed_i(seed),
        .reseed_i(reseed),
        .latency_i(local_read_latency),
        .jitter_i(local_read_jitter),
        .faults_i(local_faults[`PTO_SLOT_INDEX]),
        .fault_clock_i(fault_clock),
        .stall_src_gnt_i(stall_src_gnt),
        .stall_dst_gnt_i(stall_dst_gnt),
        .after_valid_i(ready_after_valid[4:3]),
        .src_write_o(src_write),
        .src_read_o(src_read),
        .src_req_i(src_req),
        .src_gnt_o(src_gnt),
        .src_space_i(src_space),
        .src_addr_i(src_addr),
        .src_rvalid_o(src_rvalid),
        .src_rdata_o(src_rdata),
        .src_err_o(src_err),
        .dst_req_i(dst_req),
        .dst_gnt_o(dst_gnt),
        .dst_space_i(dst_space),
        .dst_addr_i(dst_addr),
        .dst_be_i(dst_be),
        .dst_wdata_i(dst_wdata),
        .dst_err_o(dst_err)
    );

`ifdef PTO_SLOT_PAR_FLAG
    pto_par_flag_port #(
        .Slot(`PTO_SLOT_INDEX),
        .AddrWidth(LocalAddrWidth),
        .DataWidth(SrcDataWidth)
    ) u_par_flag (
        .clk_i(`PTO_SLOT_PIN(clk)),
        .rst_ni(rst_n),
        .cycle_i(cycle),
        .seed_i(seed),
        .reseed_i(reseed),
        .latency_i(local_read_latency),
        .jitter_i(local_read_jitter),
        .stall_gnt_i(stall_src_gnt),
        .after_valid_i(ready_after_valid[6:5]),
        .par_write_o(par_write),
        .par_read_o(par_read),
        .flag_write_o(flag_write),
        .flag_read_o(flag_read),
        .par_req_i(par_req),
        .par_gnt_o(par_gnt),
        .par_space_i(par_space),
        .par_addr_i(par_addr),
        .par_rvalid_o(par_rvalid),
        .par_rdata_o(par_rdata),
        .par_err_o(par_err),
        .flag_req_i(flag_req),
        .flag_gnt_o(flag_gnt),
        .flag_clear_i(flag_clear),
        .flag_addr_i(flag_addr),
        .flag_mask_i(flag_mask),
        .flag_rvalid_o(flag_rvalid),
        .flag_rdata_o(flag_rdata)
    );

    pto_par_flag_checker #(
        .Slot(`PTO_SLOT_INDEX),
        .LocalAddrWidth(LocalAddrWidth),
        .ParDataWidth(SrcDataWidth),
        .DescWidth(DescWidth)
    ) u_par_flag_checker (
        .clk_i(`PTO_SLOT_PIN(clk)),
        .rst_ni(rst_n),
        .active_o(par_flag_active),
        .desc_valid_i(desc_valid),
        .desc_ready_i(desc_ready),
        .desc_i(desc),
        .done_valid_i(done_valid),
        .done_ready_i(done_ready),
        .par_req_i(par_req),
        .par_gnt_i(par_gnt),
        .par_space_i(par_space),
        .par_addr_i(par_addr),
        .par_rvalid_i(par_rvalid),
        .flag_req_i(flag_req),
        .flag_gnt_i(flag_gnt),
        .flag_clear_i(flag_clear),
        .flag_addr_i(flag_addr),
        .flag_mask_i(flag_mask),
        .flag_rvalid_i(flag_rvalid)
    );
`endif

    pto_axi_checker #(
        .Slot(`PTO_SLOT_INDEX),
        .AddrWidth(GmAddrWidth),
        .DataWidth(GmDataWidth),
        .IdWidth(AxiIdWidth),
        .MaxOutstanding(NumOutstanding)
    ) u_axi_checker (
        .clk_i(`PTO_SLOT_PIN(clk)),
        .rst_ni(rst_n),
        .reads_open_o(axi_reads_open),
        .writes_open_o(axi_writes_open),
        .offers_o(axi_offers),
        .m_axi_arid(arid),
        .m_axi_araddr(araddr),
        .m_axi_arlen(arlen),
        .m_axi_arsize(arsize),
        .m_axi_arburst(arburst),
        .m_axi_arvalid(arvalid),
        .m_axi_arready(arready),
        .m_axi_rid(rid),
        .m_axi_rdata(rdata),
        .m_axi_rresp(rresp),
        .m_axi_rlast(rlast),
        .m_axi_rvalid(rvalid),
        .m_axi_rready(rready),
        .m_axi_awid(awid),
        .m_axi_awaddr(awaddr),
        .m_axi_awlen(awlen),
        .m_axi_awsize(awsize),
        .m_axi_awburst(awburst),
        .m_axi_awvalid(awvalid),
        .m_axi_awready(awready),
        .m_axi_wdata(wdata),
        .m_axi_wstrb(wstrb),
        .m_axi_wlast(wlast),
        .m_axi_wvalid(wvalid),
        .m_axi_wready(wready),
        .m_axi_bid(bid),
        .m_axi_bresp(bresp),
        .m_axi_bvalid(bvalid),
        .m_axi_bready(bready)
    );

    pto_port_checker #(
        .Slot(`PTO_SLOT_INDEX),
        .GmAddrWidth(GmAddrWidth),
        .LocalAddrWidth(LocalAddrWidth),
        .SrcDataWidth(SrcDataWidth),
        .DstDataWidth(LocalDataWidth),
        .DescWidth(DescWidth),
        .TagWidth(TagWidth)
    ) u_port_checker (
        .clk_i(`PTO_SLOT_PIN(clk)),
        .rst_ni(rst_n),
        .active_o(ports_active),
        .desc_valid_i(desc_valid),
        .desc_ready_i(desc_ready),
        .desc_i(desc),
        .desc_tag_i(desc_tag),
        .done_valid_i(done_valid),
        .done_ready_i(done_ready),
        .done_tag_i(done_tag),
        .done_status_i(done_status),
        .done_rule_i(done_rule),
        .done_addr_i(done_addr),
        .busy_i(busy),
        .src_req_i(src_req),
        .src_gnt_i(src_gnt),
        .src_space_i(src_space),
        .src_addr_i(src_addr),
        .src_rvalid_i(src_rvalid),
        .dst_req_i(dst_req),
        .dst_gnt_i(dst_gnt),
        .dst_space_i(dst_space),
        .dst_addr_i(dst_addr),
        .dst_be_i(dst_be),
        .dst_wdata_i(dst_wdata),
        .axi_reads_open_i(axi_reads_open),
        .axi_writes_open_i(axi_writes_open),
        .axi_offers_i(axi_offers)
    );

    pto_wait_monitor #(
        .Slot(`PTO_SLOT_INDEX),
        .AddrWidth(GmAddrWidth)
    ) u_waits (
        .clk_i(`PTO_SLOT_PIN(clk)),
        .rst_ni(rst_n),
        .cycle_i(cycle),
        .report_i(report),
        .watch_i(watch[`PTO_SLOT_INDEX]),
        .desc_valid_i(desc_valid),
        .desc_ready_i(desc_ready),
        .done_valid_i(done_valid),
        .done_ready_i(done_ready),
        .busy_i(busy),
        .src_req_i(src_req),
        .src_gnt_i(src_gnt),
        .src_rvalid_i(src_rvalid),
        .dst_req_i(dst_req),
        .dst_gnt_i(dst_gnt),
        .par_req_i(par_req),
        .par_gnt_i(par_gnt),
        .par_rvalid_i(par_rvalid),
        .flag_req_i(flag_req),
        .flag_gnt_i(flag_gnt),
        .flag_clear_i(flag_clear),
        .flag_rvalid_i(flag_rvalid),
        .m_axi_araddr(araddr),
        .m_axi_arlen(arlen),
        .m_axi_arvalid(arvalid),
        .m_axi_arready(arready),
        .m_axi_rvalid(rvalid),
        .m_axi_rready(rready),
        .m_axi_rlast(rlast),
        .m_axi_awaddr(awaddr),
        .m_axi_awlen(awlen),
        .m_axi_awvalid(awvalid),
        .m_axi_awready(awready),
        .m_axi_wvalid(wvalid),
        .m_axi_wready(wready),
        .m_axi_wlast(wlast),
        .m_axi_bvalid(bvalid),
        .m_axi_bready(bready),
        .reads_i(reads),
        .read_beats_i(read_beats),
        .r_stalls_i(r_stalls),
        .b_stalls_i(b_stalls),
        .src_write_i(src_write),
        .src_read_i(src_read),
        .par_write_i(par_write),
        .par_read_i(par_read),
        .flag_write_i(flag_write),
        .flag_read_i(flag_read)
    );
  end
endgenerate

`undef PTO_SLOT_MODULE
`undef PTO_SLOT_INDEX
`undef PTO_SLOT_NAME
`undef PTO_SLOT_PIN
`undef PTO_SLOT_OUTSTANDING
`undef PTO_SLOT_PARAMETERS
`ifdef PTO_SLOT_SRC_WIDTH
  `undef PTO_SLOT_SRC_WIDTH
`endif
`ifdef PTO_SLOT_PAR_FLAG
  `undef PTO_SLOT_PAR_FLAG
`endif

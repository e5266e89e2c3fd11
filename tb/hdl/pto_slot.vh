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
    // The ports of the engine, without their suffixes.
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
    wire [AxiIdWidth-1:0] m_axi_arid, m_axi_awid;
    wire [GmAddrWidth-1:0] m_axi_araddr, m_axi_awaddr;
    wire [7:0] m_axi_arlen, m_axi_awlen;
    wire [2:0] m_axi_arsize, m_axi_awsize;
    wire [1:0] m_axi_arburst, m_axi_awburst;
    wire [GmDataWidth-1:0] m_axi_wdata;
    wire [GmDataWidth/8-1:0] m_axi_wstrb;
    wire m_axi_arvalid, m_axi_rready, m_axi_awvalid, m_axi_wlast, m_axi_wvalid, m_axi_bready;
    `PTO_AXI_DRIVEN m_axi_arready, m_axi_rlast, m_axi_rvalid, m_axi_awready, m_axi_wready;
    `PTO_AXI_DRIVEN m_axi_bvalid;
    `PTO_AXI_DRIVEN [AxiIdWidth-1:0] m_axi_rid, m_axi_bid;
    `PTO_AXI_DRIVEN [GmDataWidth-1:0] m_axi_rdata;
    `PTO_AXI_DRIVEN [1:0] m_axi_rresp, m_axi_bresp;
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

    // The ports of a third-party DUT: docs/contract.md.
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
        .clk_i(`PTO_SLOT_PIN(clk)), .rst_ni(rst_n),
        .desc_valid_i(desc_valid), .desc_ready_o(desc_ready), .desc_i(desc), .desc_tag_i(desc_tag),
        .done_valid_o(done_valid), .done_ready_i(done_ready), .done_tag_o(done_tag),
        .done_status_o(done_status), .done_rule_o(done_rule), .done_addr_o(done_addr),
        .busy_o(busy),
        .src_req_o(src_req), .src_gnt_i(src_gnt), .src_space_o(src_space), .src_addr_o(src_addr),
        .src_rvalid_i(src_rvalid), .src_rdata_i(src_rdata), .src_err_i(src_err),
        .dst_req_o(dst_req), .dst_gnt_i(dst_gnt), .dst_space_o(dst_space), .dst_addr_o(dst_addr),
        .dst_be_o(dst_be), .dst_wdata_o(dst_wdata), .dst_err_i(dst_err),
`ifdef PTO_SLOT_PAR_FLAG
        .par_req_o(par_req), .par_gnt_i(par_gnt), .par_space_o(par_space), .par_addr_o(par_addr),
        .par_rvalid_i(par_rvalid), .par_rdata_i(par_rdata), .par_err_i(par_err),
        .flag_req_o(flag_req), .flag_gnt_i(flag_gnt), .flag_clear_o(flag_clear),
        .flag_addr_o(flag_addr), .flag_mask_o(flag_mask),
        .flag_rvalid_i(flag_rvalid), .flag_rdata_i(flag_rdata),
`endif
        .m_axi_arid, .m_axi_araddr, .m_axi_arlen, .m_axi_arsize, .m_axi_arburst, .m_axi_arvalid,
        .m_axi_arready,
        .m_axi_rid, .m_axi_rdata, .m_axi_rresp, .m_axi_rlast, .m_axi_rvalid, .m_axi_rready,
        .m_axi_awid, .m_axi_awaddr, .m_axi_awlen, .m_axi_awsize, .m_axi_awburst, .m_axi_awvalid,
        .m_axi_awready,
        .m_axi_wdata, .m_axi_wstrb, .m_axi_wlast, .m_axi_wvalid, .m_axi_wready,
        .m_axi_bid, .m_axi_bresp, .m_axi_bvalid, .m_axi_bready
    );

    // Modules of the harness: `.*` connects the signals above, and cycle, seed and knobs of
    // pto_harness.v. Widths that the contract fixes are the defaults of their parameters.
    pto_desc_feeder #(
        .Slot(`PTO_SLOT_INDEX),
        .TagWidth(TagWidth)
    ) u_feeder (
        .clk_i(`PTO_SLOT_PIN(clk)),
        .rst_ni(rst_n),
        .avail_i(avail[`PTO_SLOT_INDEX]),
        .pin_mode_i(pin_mode[`PTO_SLOT_INDEX]),
        .pin_valid_i(`PTO_SLOT_PIN(desc_valid)),
        .pin_desc_i(`PTO_SLOT_PIN(desc_data)),
        .pin_tag_i(`PTO_SLOT_PIN(desc_tag)),
        .*
    );

    pto_done_monitor #(
        .Slot(`PTO_SLOT_INDEX),
        .TagWidth(TagWidth)
    ) u_monitor (
        .clk_i(`PTO_SLOT_PIN(clk)),
        .rst_ni(rst_n),
        .after_valid_i(ready_after_valid[7]),
        .pin_mode_i(pin_mode[`PTO_SLOT_INDEX]),
        .pin_ready_i(`PTO_SLOT_PIN(done_ready)),
        .*
    );

`ifdef PTO_AXI_PINS
    `include "pto_axi_pins.vh"
`else
    pto_axi_mem #(
        .Slot(`PTO_SLOT_INDEX),
        .DataWidth(GmDataWidth)
    ) u_gm (
        .clk_i(`PTO_SLOT_PIN(clk)),
        .rst_ni(rst_n),
        .after_valid_i(ready_after_valid[2:0]),
        .*
    );
`endif

    pto_local_port #(
        .Slot(`PTO_SLOT_INDEX),
        .SrcDataWidth(SrcDataWidth),
        .DstDataWidth(LocalDataWidth)
    ) u_local (
        .clk_i(`PTO_SLOT_PIN(clk)),
        .rst_ni(rst_n),
        .faults_i(local_faults[`PTO_SLOT_INDEX]),
        .after_valid_i(ready_after_valid[4:3]),
        .*
    );

`ifdef PTO_SLOT_PAR_FLAG
    pto_par_flag_port #(
        .Slot(`PTO_SLOT_INDEX),
        .DataWidth(SrcDataWidth)
    ) u_par_flag (
        .clk_i(`PTO_SLOT_PIN(clk)),
        .rst_ni(rst_n),
        .after_valid_i(ready_after_valid[6:5]),
        .*
    );

    pto_par_flag_checker #(
        .Slot(`PTO_SLOT_INDEX),
        .ParDataWidth(SrcDataWidth)
    ) u_par_flag_checker (
        .clk_i(`PTO_SLOT_PIN(clk)),
        .rst_ni(rst_n),
        .active_o(par_flag_active),
        .*
    );
`endif

    pto_axi_checker #(
        .Slot(`PTO_SLOT_INDEX),
        .DataWidth(GmDataWidth),
        .MaxOutstanding(NumOutstanding)
    ) u_axi_checker (
        .clk_i(`PTO_SLOT_PIN(clk)),
        .rst_ni(rst_n),
        .*
    );

    pto_port_checker #(
        .Slot(`PTO_SLOT_INDEX),
        .SrcDataWidth(SrcDataWidth),
        .DstDataWidth(LocalDataWidth),
        .TagWidth(TagWidth)
    ) u_port_checker (
        .clk_i(`PTO_SLOT_PIN(clk)),
        .rst_ni(rst_n),
        .active_o(ports_active),
        .*
    );

    pto_wait_monitor #(
        .Slot(`PTO_SLOT_INDEX),
        .Ahead(Ahead)
    ) u_waits (
        .clk_i(`PTO_SLOT_PIN(clk)),
        .rst_ni(rst_n),
        .watch_i(watch[`PTO_SLOT_INDEX]),
        .*
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

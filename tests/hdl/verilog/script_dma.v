// SPDX-License-Identifier: Apache-2.0
// An engine with pins driven by a script, clock by clock: the proof of each rule of
// docs/protocol.md on the engine's side. It also has its own checkers, with messages that name
// slot mte1: a script can drive both sides of those, which proves the rules for the memory.
// Descriptors: [7:0] 1 stores a step, [15:8] its number, [511:16] its fields as unpacked below.
// Any other [7:0] plays [23:16] steps, from number 0 on: [8] on the checkers inside instead of the
// pins; [9] then a done (otherwise the last step stays until reset); [10] the done comes first;
// [11] a done, and in the reset that follows the pins are those of step 0.
// A step lasts `hold` + 1 clocks (mode 0); or offers only on a clock that stalls it, and lasts
// until then (1); or lasts until it is taken (2). `x` names a signal that shows a word of a memory
// that was never written, at a known address. Data and enables repeat.
`default_nettype none
`timescale 1ns / 1ps

`define PTO_SRC_DATA_WIDTH SrcDataWidth
module script_dma #(
    parameter GmAddrWidth = 40,
    parameter GmDataWidth = 256,
    parameter LocalAddrWidth = 20,
    parameter LocalDataWidth = 256,
    parameter SrcDataWidth = LocalDataWidth,
    parameter DescWidth = 512,
    parameter TagWidth = 8,
    parameter NumOutstanding = 16,
    parameter AxiIdWidth = 4
) (
    `include "pto_fix_ports.vh"
    `include "pto_engine_ports.vh"
);
`undef PTO_SRC_DATA_WIDTH
  localparam [2:0] IDLE = 3'd0, RUN = 3'd1, DONE = 3'd2;
  localparam [1:0] STALLED = 2'd1, TAKEN = 2'd2;
  localparam StepBits = 371;

  // Signals that can be X; the test has the same list.
  localparam X_DESC_READY = 1, X_BUSY = 2, X_DONE_VALID = 3, X_DONE_TAG = 4, X_DONE_STATUS = 5,
      X_DONE_RULE = 6, X_DONE_ADDR = 7, X_SRC_REQ = 8, X_SRC_SPACE = 9, X_SRC_ADDR = 10,
      X_DST_REQ = 11, X_DST_SPACE = 12, X_DST_ADDR = 13, X_DST_BE = 14, X_DST_WDATA = 15,
      X_PAR_REQ = 16, X_PAR_SPACE = 17, X_PAR_ADDR = 18, X_FLAG_REQ = 19, X_FLAG_CLEAR = 20,
      X_FLAG_ADDR = 21, X_FLAG_MASK = 22, X_ARVALID = 23, X_ARID = 24, X_ARADDR = 25, X_ARLEN = 26,
      X_ARSIZE = 27, X_ARBURST = 28, X_RREADY = 29, X_AWVALID = 30, X_AWID = 31, X_AWADDR = 32,
      X_AWLEN = 33, X_AWSIZE = 34, X_AWBURST = 35, X_WVALID = 36, X_WDATA = 37, X_WSTRB = 38,
      X_WLAST = 39, X_BREADY = 40, X_ARREADY = 41, X_RVALID = 42, X_RID = 43, X_RDATA = 44,
      X_RRESP = 45, X_RLAST = 46, X_AWREADY = 47, X_WREADY = 48, X_BVALID = 49, X_BID = 50,
      X_BRESP = 51, X_SRC_GNT = 52, X_SRC_RVALID = 53, X_DST_GNT = 54, X_PAR_GNT = 55,
      X_PAR_RVALID = 56, X_FLAG_GNT = 57, X_FLAG_RVALID = 58, X_DESC_VALID = 59, X_DESC_TAG = 60,
      X_DONE_READY = 61;

  reg [2:0] state_q;
  reg [StepBits-1:0] steps[0:255];
  reg [7:0] index_q, last_q, hold_q;
  reg [TagWidth-1:0] tag_q;
  reg direct_q, finish_q, late_q;
  reg in_reset_q;  // stays through reset
  reg unset_memory[0:3];
  reg [1:0] unset_index;

  initial begin
    in_reset_q = 1'b0;
    unset_index = 2'd2;
  end

  wire unset = unset_memory[unset_index];

  // --- the step ---

  // Nothing moves, and what is ready stays so.
  wire [StepBits-1:0] vector = state_q == RUN ? steps[index_q] :
      in_reset_q && !rst_ni ? steps[0] : {StepBits{1'b0}};
  wire v_reset, v_desc_ready, v_busy, v_done_valid, v_src_req, v_dst_req, v_dst_be, v_par_req,
      v_flag_req, v_flag_clear, v_arvalid, v_rready, v_awvalid, v_wvalid, v_wstrb, v_wlast,
      v_bready, v_arready, v_rvalid, v_rlast, v_awready, v_wready, v_bvalid, v_src_gnt,
      v_src_rvalid, v_dst_gnt, v_par_gnt, v_par_rvalid, v_flag_gnt, v_flag_rvalid, v_desc_valid,
      v_done_ready;
  wire [1:0] v_mode, v_arburst, v_awburst, v_rresp, v_bresp;
  wire [2:0] v_done_status, v_src_space, v_dst_space, v_par_space, v_arsize, v_awsize;
  wire [3:0] v_flag_addr, v_arid, v_awid, v_rid, v_bid;
  wire [6:0] v_x;
  wire [7:0] v_hold, v_done_tag, v_done_rule, v_dst_wdata, v_arlen, v_awlen, v_wdata, v_rdata,
      v_desc_tag;
  wire [19:0] v_src_addr, v_dst_addr, v_par_addr;
  wire [31:0] v_flag_mask;
  wire [39:0] v_done_addr, v_araddr, v_awaddr;
  assign {v_hold, v_mode, v_x, v_reset, v_desc_ready, v_busy, v_done_valid, v_done_tag,
      v_done_status, v_done_rule, v_done_addr, v_src_req, v_src_space, v_src_addr, v_dst_req,
      v_dst_space, v_dst_addr, v_dst_be, v_dst_wdata, v_par_req, v_par_space, v_par_addr,
      v_flag_req, v_flag_clear, v_flag_addr, v_flag_mask, v_arvalid, v_arid, v_araddr, v_arlen,
      v_arsize, v_arburst, v_rready, v_awvalid, v_awid, v_awaddr, v_awlen, v_awsize, v_awburst,
      v_wvalid, v_wdata, v_wstrb, v_wlast, v_bready, v_arready, v_rvalid, v_rid, v_rdata, v_rresp,
      v_rlast, v_awready, v_wready, v_bvalid, v_bid, v_bresp, v_src_gnt, v_src_rvalid, v_dst_gnt,
      v_par_gnt, v_par_rvalid, v_flag_gnt, v_flag_rvalid, v_desc_valid, v_desc_tag,
      v_done_ready} = vector;

  wire p_desc_ready = v_x == X_DESC_READY ? unset : v_desc_ready;
  wire p_busy = v_x == X_BUSY ? unset : v_busy;
  wire p_done_valid = v_x == X_DONE_VALID ? unset : v_done_valid;
  wire [7:0] p_done_tag = v_x == X_DONE_TAG ? {8{unset}} : v_done_tag;
  wire [2:0] p_done_status = v_x == X_DONE_STATUS ? {3{unset}} : v_done_status;
  wire [7:0] p_done_rule = v_x == X_DONE_RULE ? {8{unset}} : v_done_rule;
  wire [39:0] p_done_addr = v_x == X_DONE_ADDR ? {40{unset}} : v_done_addr;
  wire p_src_req = v_x == X_SRC_REQ ? unset : v_src_req;
  wire [2:0] p_src_space = v_x == X_SRC_SPACE ? {3{unset}} : v_src_space;
  wire [19:0] p_src_addr = v_x == X_SRC_ADDR ? {20{unset}} : v_src_addr;
  wire p_dst_req = v_x == X_DST_REQ ? unset : v_dst_req;
  wire [2:0] p_dst_space = v_x == X_DST_SPACE ? {3{unset}} : v_dst_space;
  wire [19:0] p_dst_addr = v_x == X_DST_ADDR ? {20{unset}} : v_dst_addr;
  wire p_dst_be = v_x == X_DST_BE ? unset : v_dst_be;
  wire [7:0] p_dst_wdata = v_x == X_DST_WDATA ? {8{unset}} : v_dst_wdata;
  wire p_par_req = v_x == X_PAR_REQ ? unset : v_par_req;
  wire [2:0] p_par_space = v_x == X_PAR_SPACE ? {3{unset}} : v_par_space;
  wire [19:0] p_par_addr = v_x == X_PAR_ADDR ? {20{unset}} : v_par_addr;
  wire p_flag_req = v_x == X_FLAG_REQ ? unset : v_flag_req;
  wire p_flag_clear = v_x == X_FLAG_CLEAR ? unset : v_flag_clear;
  wire [3:0] p_flag_addr = v_x == X_FLAG_ADDR ? {4{unset}} : v_flag_addr;
  wire [31:0] p_flag_mask = v_x == X_FLAG_MASK ? {32{unset}} : v_flag_mask;
  wire p_arvalid = v_x == X_ARVALID ? unset : v_arvalid;
  wire [3:0] p_arid = v_x == X_ARID ? {4{unset}} : v_arid;
  wire [39:0] p_araddr = v_x == X_ARADDR ? {40{unset}} : v_araddr;
  wire [7:0] p_arlen = v_x == X_ARLEN ? {8{unset}} : v_arlen;
  wire [2:0] p_arsize = v_x == X_ARSIZE ? {3{unset}} : v_arsize;
  wire [1:0] p_arburst = v_x == X_ARBURST ? {2{unset}} : v_arburst;
  wire p_rready = v_x == X_RREADY ? unset : v_rready;
  wire p_awvalid = v_x == X_AWVALID ? unset : v_awvalid;
  wire [3:0] p_awid = v_x == X_AWID ? {4{unset}} : v_awid;
  wire [39:0] p_awaddr = v_x == X_AWADDR ? {40{unset}} : v_awaddr;
  wire [7:0] p_awlen = v_x == X_AWLEN ? {8{unset}} : v_awlen;
  wire [2:0] p_awsize = v_x == X_AWSIZE ? {3{unset}} : v_awsize;
  wire [1:0] p_awburst = v_x == X_AWBURST ? {2{unset}} : v_awburst;
  wire p_wvalid = v_x == X_WVALID ? unset : v_wvalid;
  wire [7:0] p_wdata = v_x == X_WDATA ? {8{unset}} : v_wdata;
  wire p_wstrb = v_x == X_WSTRB ? unset : v_wstrb;
  wire p_wlast = v_x == X_WLAST ? unset : v_wlast;
  wire p_bready = v_x == X_BREADY ? unset : v_bready;
  wire p_arready = v_x == X_ARREADY ? unset : v_arready;
  wire p_rvalid = v_x == X_RVALID ? unset : v_rvalid;
  wire [3:0] p_rid = v_x == X_RID ? {4{unset}} : v_rid;
  wire [7:0] p_rdata = v_x == X_RDATA ? {8{unset}} : v_rdata;
  wire [1:0] p_rresp = v_x == X_RRESP ? {2{unset}} : v_rresp;
  wire p_rlast = v_x == X_RLAST ? unset : v_rlast;
  wire p_awready = v_x == X_AWREADY ? unset : v_awready;
  wire p_wready = v_x == X_WREADY ? unset : v_wready;
  wire p_bvalid = v_x == X_BVALID ? unset : v_bvalid;
  wire [3:0] p_bid = v_x == X_BID ? {4{unset}} : v_bid;
  wire [1:0] p_bresp = v_x == X_BRESP ? {2{unset}} : v_bresp;
  wire p_src_gnt = v_x == X_SRC_GNT ? unset : v_src_gnt;
  wire p_src_rvalid = v_x == X_SRC_RVALID ? unset : v_src_rvalid;
  wire p_dst_gnt = v_x == X_DST_GNT ? unset : v_dst_gnt;
  wire p_par_gnt = v_x == X_PAR_GNT ? unset : v_par_gnt;
  wire p_par_rvalid = v_x == X_PAR_RVALID ? unset : v_par_rvalid;
  wire p_flag_gnt = v_x == X_FLAG_GNT ? unset : v_flag_gnt;
  wire p_flag_rvalid = v_x == X_FLAG_RVALID ? unset : v_flag_rvalid;
  wire p_desc_valid = v_x == X_DESC_VALID ? unset : v_desc_valid;
  wire [7:0] p_desc_tag = v_x == X_DESC_TAG ? {8{unset}} : v_desc_tag;
  wire p_done_ready = v_x == X_DONE_READY ? unset : v_done_ready;

  wire run = state_q == RUN;
  wire wired = (run && !direct_q) || (in_reset_q && !rst_ni);
  wire [7:0] valids = {v_done_valid, v_src_req, v_dst_req, v_par_req, v_flag_req, v_arvalid,
                       v_awvalid, v_wvalid};
  wire [7:0] readies = {done_ready_i, src_gnt_i, dst_gnt_i, par_gnt_i, flag_gnt_i, m_axi_arready,
                       m_axi_awready, m_axi_wready};
  wire stalled = |(valids & ~readies);
  wire offer = wired && (v_mode != STALLED || stalled);
  wire over = v_mode == STALLED ? stalled :
      v_mode == TAKEN ? |(valids & readies) : hold_q == v_hold;

  assign desc_ready_o = wired ? p_desc_ready : state_q == IDLE && rst_ni;
  assign busy_o = wired ? p_busy : state_q == DONE || (run && !late_q);
  assign done_valid_o = state_q == DONE || (offer && p_done_valid);
  assign done_tag_o = wired ? p_done_tag : tag_q;
  assign done_status_o = wired ? p_done_status : 3'd0;
  assign done_rule_o = wired ? p_done_rule : 8'd0;
  assign done_addr_o = wired ? p_done_addr : {GmAddrWidth{1'b0}};
  assign src_req_o = offer && p_src_req;
  assign src_space_o = p_src_space;
  assign src_addr_o = p_src_addr;
  assign dst_req_o = offer && p_dst_req;
  assign dst_space_o = p_dst_space;
  assign dst_addr_o = p_dst_addr;
  assign dst_be_o = {LocalDataWidth / 8{p_dst_be}};
  assign dst_wdata_o = {LocalDataWidth / 8{p_dst_wdata}};
  assign par_req_o = offer && p_par_req;
  assign par_space_o = p_par_space;
  assign par_addr_o = p_par_addr;
  assign flag_req_o = offer && p_flag_req;
  assign flag_clear_o = p_flag_clear;
  assign flag_addr_o = p_flag_addr;
  assign flag_mask_o = p_flag_mask;
  assign m_axi_arvalid = offer && p_arvalid;
  assign m_axi_arid = p_arid;
  assign m_axi_araddr = p_araddr;
  assign m_axi_arlen = p_arlen;
  assign m_axi_arsize = p_arsize;
  assign m_axi_arburst = p_arburst;
  assign m_axi_rready = !wired || p_rready;
  assign m_axi_awvalid = offer && p_awvalid;
  assign m_axi_awid = p_awid;
  assign m_axi_awaddr = p_awaddr;
  assign m_axi_awlen = p_awlen;
  assign m_axi_awsize = p_awsize;
  assign m_axi_awburst = p_awburst;
  assign m_axi_wvalid = offer && p_wvalid;
  assign m_axi_wdata = {GmDataWidth / 8{p_wdata}};
  assign m_axi_wstrb = {GmDataWidth / 8{p_wstrb}};
  assign m_axi_wlast = p_wlast;
  assign m_axi_bready = !wired || p_bready;

  // --- the script ---

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= IDLE;
    end else begin
      case (state_q)
        IDLE: begin
          if (desc_valid_i) begin
            tag_q <= desc_tag_i;
            late_q <= 1'b0;
            in_reset_q <= 1'b0;
            index_q <= 8'd0;
            hold_q <= 8'd0;
            if (desc_i[7:0] == 8'd1) begin
              steps[desc_i[15:8]] <= desc_i[16+:StepBits];
              state_q <= DONE;
            end else begin
              {in_reset_q, late_q, finish_q, direct_q} <= desc_i[11:8];
              last_q <= desc_i[23:16] - 8'd1;
              state_q <= desc_i[11:10] != 2'd0 ? DONE : RUN;
            end
          end
        end
        RUN: begin
          hold_q <= over ? 8'd0 : hold_q + 8'd1;
          if (over && index_q != last_q) index_q <= index_q + 8'd1;
          else if (over && finish_q) state_q <= DONE;
        end
        default: if (done_ready_i) state_q <= late_q ? RUN : IDLE;
      endcase
    end
  end

  // --- checkers of its own ---

  wire direct = run && direct_q;
  wire inner_rst_n = rst_ni && !(direct && v_reset);

  // A tile that waits for flags and clears them.
  wire [DescWidth-1:0] desc = {{DescWidth - 161{1'b0}}, 3'd3, 150'd0, 8'd10};

  pto_axi_checker #(
      .Slot(0),
      .AddrWidth(GmAddrWidth),
      .DataWidth(GmDataWidth),
      .IdWidth(AxiIdWidth)
  ) u_axi_checker (
      .clk_i(clk_i),
      .rst_ni(inner_rst_n),
      .axi_reads_open(),
      .axi_writes_open(),
      .axi_offers(),
      .m_axi_arid(p_arid),
      .m_axi_araddr(p_araddr),
      .m_axi_arlen(p_arlen),
      .m_axi_arsize(p_arsize),
      .m_axi_arburst(p_arburst),
      .m_axi_arvalid(direct && p_arvalid),
      .m_axi_arready(direct && p_arready),
      .m_axi_rid(p_rid),
      .m_axi_rdata({GmDataWidth / 8{p_rdata}}),
      .m_axi_rresp(p_rresp),
      .m_axi_rlast(p_rlast),
      .m_axi_rvalid(direct && p_rvalid),
      .m_axi_rready(!direct || p_rready),
      .m_axi_awid(p_awid),
      .m_axi_awaddr(p_awaddr),
      .m_axi_awlen(p_awlen),
      .m_axi_awsize(p_awsize),
      .m_axi_awburst(p_awburst),
      .m_axi_awvalid(direct && p_awvalid),
      .m_axi_awready(direct && p_awready),
      .m_axi_wdata({GmDataWidth / 8{p_wdata}}),
      .m_axi_wstrb({GmDataWidth / 8{p_wstrb}}),
      .m_axi_wlast(p_wlast),
      .m_axi_wvalid(direct && p_wvalid),
      .m_axi_wready(direct && p_wready),
      .m_axi_bid(p_bid),
      .m_axi_bresp(p_bresp),
      .m_axi_bvalid(direct && p_bvalid),
      .m_axi_bready(!direct || p_bready)
  );

  pto_port_checker #(
      .Slot(0),
      .GmAddrWidth(GmAddrWidth),
      .LocalAddrWidth(LocalAddrWidth),
      .SrcDataWidth(SrcDataWidth),
      .DstDataWidth(LocalDataWidth),
      .DescWidth(DescWidth),
      .TagWidth(TagWidth)
  ) u_port_checker (
      .clk_i(clk_i),
      .rst_ni(inner_rst_n),
      .active_o(),
      .desc_valid(direct && p_desc_valid),
      .desc_ready(!direct || p_desc_ready),
      .desc(desc),
      .desc_tag(p_desc_tag),
      .done_valid(direct && p_done_valid),
      .done_ready(direct && p_done_ready),
      .done_tag(p_done_tag),
      .done_status(p_done_status),
      .done_rule(p_done_rule),
      .done_addr(p_done_addr),
      .busy(direct && p_busy),
      .src_req(direct && p_src_req),
      .src_gnt(direct && p_src_gnt),
      .src_space(p_src_space),
      .src_addr(p_src_addr),
      .src_rvalid(direct && p_src_rvalid),
      .dst_req(direct && p_dst_req),
      .dst_gnt(direct && p_dst_gnt),
      .dst_space(p_dst_space),
      .dst_addr(p_dst_addr),
      .dst_be({LocalDataWidth / 8{p_dst_be}}),
      .dst_wdata({LocalDataWidth / 8{p_dst_wdata}}),
      .axi_reads_open(1'b0),
      .axi_writes_open(1'b0),
      .axi_offers(1'b0)
  );

  pto_par_flag_checker #(
      .Slot(0),
      .LocalAddrWidth(LocalAddrWidth),
      .ParDataWidth(SrcDataWidth),
      .DescWidth(DescWidth)
  ) u_par_flag_checker (
      .clk_i(clk_i),
      .rst_ni(inner_rst_n),
      .active_o(),
      .desc_valid(direct && p_desc_valid),
      .desc_ready(!direct || p_desc_ready),
      .desc(desc),
      .done_valid(direct && p_done_valid),
      .done_ready(direct && p_done_ready),
      .par_req(direct && p_par_req),
      .par_gnt(direct && p_par_gnt),
      .par_space(p_par_space),
      .par_addr(p_par_addr),
      .par_rvalid(direct && p_par_rvalid),
      .flag_req(direct && p_flag_req),
      .flag_gnt(direct && p_flag_gnt),
      .flag_clear(p_flag_clear),
      .flag_addr(p_flag_addr),
      .flag_mask(p_flag_mask),
      .flag_rvalid(direct && p_flag_rvalid)
  );
endmodule

`default_nettype wire

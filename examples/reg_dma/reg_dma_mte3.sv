// SPDX-License-Identifier: Apache-2.0
//
// Adapter that puts reg_dma into slot mte3 for mte_ub_gm. pto_commands gives one job for the rows of
// each iteration of the loops; here it is programmed over APB (pto_apb), and its interrupt is
// answered: STATUS is read, the interrupt is cleared. The next job is written into the shadow
// registers while one runs, also that of the next descriptor; it starts when the interrupt of the
// one before is cleared. Only ports src and m_axi writes are used. Spec: docs/contract.md, dma.md.
//
//   clk        _/~\_/~\_/~\_/~\_/~\_/~\_/~\_
//   irq        _/~~~~~~~~~~~~~~~~~~~~~~~\___
//   APB        _____< STATUS ><IRQ_CLEAR>_____< START >
//   rsp_valid  _____________________/~~~\___
`default_nettype none
`include "pto_desc.vh"

module reg_dma_mte3 #(
  parameter integer GmAddrWidth    = 40,     // bits of a GM byte address
  parameter integer GmDataWidth    = 256,    // bits of the AXI data bus
  parameter integer LocalAddrWidth = 20,     // bits of a local byte address
  parameter integer LocalDataWidth = 256,    // bits of a local word
  parameter integer DescWidth      = 512,    // bits of a descriptor
  parameter integer TagWidth       = 8,      // bits of a tag
  parameter integer NumOutstanding = 16,     // most AXI bursts in flight
  parameter integer AxiIdWidth     = 4,      // bits of the AXI IDs, which are 0
  parameter integer DmaBursts      = 4       // bursts of the DMA, of these at most
) (
  `include "pto_engine_ports.vh"
);
  // The SRAM of the DMA is UB: sub-block 0 below sub-block 1.
  localparam integer UbBits       = $clog2(`PTO_SIZE_UB);
  localparam integer MemAddrWidth = UbBits + 1;

  // Registers of the DMA (README.md).
  localparam [7:0] CTRL = 8'h04, STATUS = 8'h08, IRQ_CLEAR = 8'h0C, SRC = 8'h10, SRC_STRIDE = 8'h14;
  localparam [7:0] ROW_LEN = 8'h18, ROWS = 8'h1C, DST_LO = 8'h20, DST_HI = 8'h24;
  localparam [7:0] DST_STRIDE_LO = 8'h28, DST_STRIDE_HI = 8'h2C;
  localparam [7:0] ERR_ADDR_LO = 8'h30, ERR_ADDR_HI = 8'h34;

  localparam [2:0] ERR_NONE = 3'd0, ERR_SLAVE = 3'd1, ERR_DECODE = 3'd2, ERR_SRAM = 3'd3;

  // ---- descriptors to jobs ----
  wire        cmd_valid, cmd_ready, cmd_first, rsp_valid, failed;
  wire [39:0] cmd_gm, cmd_gm_stride;
  wire [2:0]  cmd_space;
  wire [19:0] cmd_ub, cmd_ub_stride, cmd_len;
  wire [20:0] cmd_rows;
  wire [42:0] err;
  wire [2:0]  ext_space_unused;
  wire        idle_unused;
  pto_commands #(
    .Ops(256'd1 << `PTO_OP_MTE_UB_GM), .TagWidth(TagWidth), .Rows(1)
  ) u_commands (
    .clk_i, .rst_ni, .desc_valid_i, .desc_ready_o, .desc_i, .desc_tag_i, .busy_o,
    .done_valid_o, .done_ready_i, .done_tag_o, .done_status_o, .done_rule_o, .done_addr_o,
    .cmd_valid_o(cmd_valid), .cmd_ready_i(cmd_ready), .cmd_ext_o(cmd_gm), .cmd_ext_space_o(ext_space_unused),
    .cmd_loc_o(cmd_ub), .cmd_space_o(cmd_space), .cmd_len_o(cmd_len), .cmd_rows_o(cmd_rows),
    .cmd_ext_stride_o(cmd_gm_stride), .cmd_loc_stride_o(cmd_ub_stride), .cmd_first_o(cmd_first),
    .rsp_valid_i(rsp_valid), .err_i(err), .failed_o(failed), .idle_o(idle_unused)
  );

  // ---- next transfer: the interrupt first, then the next job's registers, then START ----
  localparam [3:0] NEW = 4'd15, WRITTEN = 4'd8;
  reg         running_q;                     // a job was started, its interrupt not cleared
  reg  [3:0]  step_q;                        // register of the job to write
  reg         asked_q;                       // STATUS is known
  reg  [2:0]  error_q;
  reg  [1:0]  located_q;                     // words of ERR_ADDR that were read
  reg  [39:0] error_addr_q;
  wire        free, read, wrote, refused, irq, psel, penable, pwrite, pready, pslverr;
  wire [7:0]  paddr;
  wire [31:0] pwdata, prdata;

  // A later job of an op differs in its addresses alone. Jobs of an op that failed do not start.
  wire [3:0] step = (step_q != NEW) ? step_q : cmd_first ? 4'd0 : 4'd5;
  wire       skip = cmd_valid && failed && !running_q;
  wire       job  = cmd_valid && !skip;

  reg         want, want_write;
  reg  [39:0] want_what;                     // register and value
  always @* begin
    want       = 1'b1;
    want_write = 1'b1;
    want_what  = {CTRL, 32'd3};              // START, interrupt enabled
    if (running_q && irq) begin
      want_write = asked_q && (error_q == ERR_NONE || located_q == 2'd2);
      want_what  = want_write ? {IRQ_CLEAR, 32'd1}
                 : {!asked_q ? STATUS : (located_q == 2'd0) ? ERR_ADDR_LO : ERR_ADDR_HI, 32'd0};
    end else if (job && step != WRITTEN) begin
      case (step)
        4'd0:    want_what = {ROW_LEN, 12'd0, cmd_len};
        4'd1:    want_what = {ROWS, 11'd0, cmd_rows + 21'd1};
        4'd2:    want_what = {SRC_STRIDE, {(32 - MemAddrWidth){1'b0}}, cmd_ub_stride[MemAddrWidth-1:0]};
        4'd3:    want_what = {DST_STRIDE_LO, cmd_gm_stride[31:0]};
        4'd4:    want_what = {DST_STRIDE_HI, 24'd0, cmd_gm_stride[39:32]};
        4'd5:    want_what = {SRC, {(32 - MemAddrWidth){1'b0}}, cmd_space == `PTO_SPACE_UB1,
                              cmd_ub[UbBits-1:0]};
        4'd6:    want_what = {DST_LO, cmd_gm[31:0]};
        default: want_what = {DST_HI, 24'd0, cmd_gm[39:32]};
      endcase
    end else want = job && !running_q;
  end

  pto_apb u_apb (
    .clk_i, .rst_ni, .req_valid_i(want), .req_write_i(want_write), .req_addr_i(want_what[39:32]),
    .req_data_i(want_what[31:0]), .free_o(free), .read_o(read), .wrote_o(wrote), .error_o(refused),
    .psel_o(psel), .penable_o(penable), .pwrite_o(pwrite), .paddr_o(paddr), .pwdata_o(pwdata),
    .pready_i(pready), .pslverr_i(pslverr)
  );

  // A START that the DMA rejects is offered again.
  wire started    = wrote && paddr == CTRL && !refused;
  wire cleared    = wrote && paddr == IRQ_CLEAR;
  wire programmed = wrote && paddr != CTRL && paddr != IRQ_CLEAR;
  wire dropped    = skip && free;
  assign cmd_ready = started || dropped;
  assign rsp_valid = cleared || dropped;

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      running_q <= 1'b0;
      step_q    <= NEW;
      asked_q   <= 1'b0;
      located_q <= 2'd0;
    end else begin
      if (started) running_q <= 1'b1;
      else if (cleared) running_q <= 1'b0;
      if (cmd_ready) step_q <= NEW;
      else if (programmed) step_q <= step + 4'd1;
      if (cleared) {asked_q, located_q} <= 3'd0;
      else if (read && paddr == STATUS) asked_q <= 1'b1;
      else if (read) located_q <= located_q + 2'd1;
    end
  end

  always @(posedge clk_i) begin
    if (read && paddr == STATUS) error_q <= prdata[6:4];
    if (read && paddr == ERR_ADDR_LO) error_addr_q[31:0] <= prdata;
    if (read && paddr == ERR_ADDR_HI) error_addr_q[39:32] <= prdata[7:0];
  end

  // An address in UB counts from the start of its sub-block.
  wire [2:0] status = (error_q == ERR_SLAVE) ? `PTO_ST_WR_SLVERR
                    : (error_q == ERR_DECODE) ? `PTO_ST_WR_DECERR : `PTO_ST_LOCAL;
  wire [39:0] place = (error_q == ERR_SRAM) ? {{(40 - UbBits){1'b0}}, error_addr_q[UbBits-1:0]}
                    : error_addr_q;
  assign err = (cleared && error_q != ERR_NONE) ? {status, place} : 43'd0;

  // ---- the DMA ----
  wire [MemAddrWidth-1:0] mem_addr;
  assign src_space_o = mem_addr[UbBits] ? `PTO_SPACE_UB1 : `PTO_SPACE_UB0;
  assign src_addr_o  = {{(LocalAddrWidth - UbBits){1'b0}}, mem_addr[UbBits-1:0]};

  reg_dma #(
    .AddrWidth(GmAddrWidth), .BusWidth(GmDataWidth), .MemWidth(LocalDataWidth),
    .MemAddrWidth(MemAddrWidth), .IdWidth(AxiIdWidth),
    .NumBursts((NumOutstanding < DmaBursts) ? NumOutstanding : DmaBursts)
  ) u_dma (
    .clk(clk_i), .rst_n(rst_ni), .psel, .penable, .pwrite, .paddr, .pwdata, .prdata, .pready,
    .pslverr, .irq, .mem_req(src_req_o), .mem_gnt(src_gnt_i), .mem_addr, .mem_rvalid(src_rvalid_i),
    .mem_rdata(src_rdata_i), .mem_rerr(src_err_i), .awid(m_axi_awid), .awaddr(m_axi_awaddr),
    .awlen(m_axi_awlen), .awsize(m_axi_awsize), .awburst(m_axi_awburst), .awvalid(m_axi_awvalid),
    .awready(m_axi_awready), .wdata(m_axi_wdata), .wstrb(m_axi_wstrb), .wlast(m_axi_wlast),
    .wvalid(m_axi_wvalid), .wready(m_axi_wready), .bresp(m_axi_bresp), .bvalid(m_axi_bvalid),
    .bready(m_axi_bready)
  );

  // ---- ports that the op does not use ----
  `include "pto_no_gm_read.vh"
  `include "pto_no_dst.vh"
  wire unused = &{1'b0, m_axi_bid, cmd_ub, cmd_ub_stride,
                  ext_space_unused, idle_unused};
endmodule

`default_nettype wire

// SPDX-License-Identifier: Apache-2.0
// axi_copy in slot mte2: the ports of docs/contract.md on the outside, the engine's commands on the
// inside. Serves mte_gm_ub and mte_gm_l1 with up to three loops and no padding.
//
//   desc --> queue --> checks --> rows --> axi_copy --> AR, R  (GM)
//                        |                    \--> axi_copy_local --> dst
//   done <-- verdict <---+---- first error <--- R, dst
//
// One op at a time: its rows go to the engine as fast as it takes them, and after all responses the
// op is done. The engine reports the burst of an error. The contract requires the bus word of the
// first error, so the wrapper monitors R and dst itself; it then stops the engine.
`default_nettype none

`include "pto_desc.vh"

module axi_copy_mte2 #(
  parameter int GmAddrWidth = 40,        // bits of a GM byte address
  parameter int GmDataWidth = 256,       // bits of the AXI data bus: 128, 256 or 512
  parameter int LocalAddrWidth = 20,     // bits of a local byte address
  parameter int LocalDataWidth = 256,    // bits of a word of the local ports: 128, 256 or 512
  parameter int DescWidth = 512,         // bits of a descriptor
  parameter int TagWidth = 8,            // bits of a tag: 1 to 16
  parameter int NumOutstanding = 16,     // most AXI bursts in flight in each direction: 1 to 64
  parameter int AxiIdWidth = 4           // bits of the AXI IDs; one ID per direction is used
) (
  // Clock and reset.
  input  wire                        clk_i,          // clock
  input  wire                        rst_ni,         // asynchronous reset, active low
  // Descriptors. Queue at least two, so that ops follow each other without a gap.
  input  wire                        desc_valid_i,   // descriptor offered
  output wire                        desc_ready_o,   // descriptor taken
  input  wire [DescWidth-1:0]        desc_i,         // descriptor
  input  wire [TagWidth-1:0]         desc_tag_i,     // its tag
  // One done for each descriptor, in order, after its last write is there.
  output wire                        done_valid_o,   // an op is done
  input  wire                        done_ready_i,   // report taken
  output wire [TagWidth-1:0]         done_tag_o,     // its tag
  output wire [2:0]                  done_status_o,  // status code
  output wire [7:0]                  done_rule_o,    // violated rule or 0
  output wire [GmAddrWidth-1:0]      done_addr_o,    // address of the first bad access or 0
  // High from a descriptor's handshake to its done's.
  output wire                        busy_o,         // an op was taken and is not done
  // Local reads: each grant is answered once, in order, and cannot be stalled.
  output wire                        src_req_o,      // local read, stable until granted
  input  wire                        src_gnt_i,      // request taken
  output wire [2:0]                  src_space_o,    // memory
  output wire [LocalAddrWidth-1:0]   src_addr_o,     // byte address, word aligned
  input  wire                        src_rvalid_i,   // reply, in order
  input  wire [LocalDataWidth-1:0]   src_rdata_i,    // word
  input  wire                        src_err_i,      // the read failed, with the reply
  // Local writes.
  output wire                        dst_req_o,      // local write, stable until granted
  input  wire                        dst_gnt_i,      // write done
  output wire [2:0]                  dst_space_o,    // memory
  output wire [LocalAddrWidth-1:0]   dst_addr_o,     // byte address, word aligned
  output wire [LocalDataWidth/8-1:0] dst_be_o,       // byte enables
  output wire [LocalDataWidth-1:0]   dst_wdata_o,    // word
  input  wire                        dst_err_i,      // the write failed, with the grant
  // AXI4 reads of GM: INCR, full width, none across 4 KiB.
  output wire [AxiIdWidth-1:0]       m_axi_arid,     // the same for every read
  output wire [GmAddrWidth-1:0]      m_axi_araddr,   // burst address, bus word aligned
  output wire [7:0]                  m_axi_arlen,    // beats less 1
  output wire [2:0]                  m_axi_arsize,   // bus width
  output wire [1:0]                  m_axi_arburst,  // INCR
  output wire                        m_axi_arvalid,  // burst offered
  input  wire                        m_axi_arready,  // burst taken
  // AXI4 read data.
  input  wire [AxiIdWidth-1:0]       m_axi_rid,      // that of the burst
  input  wire [GmDataWidth-1:0]      m_axi_rdata,    // beat
  input  wire [1:0]                  m_axi_rresp,    // response
  input  wire                        m_axi_rlast,    // last beat of the burst
  input  wire                        m_axi_rvalid,   // beat offered
  output wire                        m_axi_rready,   // beat taken
  // AXI4 writes of GM: INCR, full width, none across 4 KiB.
  output wire [AxiIdWidth-1:0]       m_axi_awid,     // the same for every write
  output wire [GmAddrWidth-1:0]      m_axi_awaddr,   // burst address, bus word aligned
  output wire [7:0]                  m_axi_awlen,    // beats less 1
  output wire [2:0]                  m_axi_awsize,   // bus width
  output wire [1:0]                  m_axi_awburst,  // INCR
  output wire                        m_axi_awvalid,  // burst offered
  input  wire                        m_axi_awready,  // burst taken
  // AXI4 write data.
  output wire [GmDataWidth-1:0]      m_axi_wdata,    // beat
  output wire [GmDataWidth/8-1:0]    m_axi_wstrb,    // byte strobes
  output wire                        m_axi_wlast,    // last beat of the burst
  output wire                        m_axi_wvalid,   // beat offered
  input  wire                        m_axi_wready,   // beat taken
  // AXI4 write responses.
  input  wire [AxiIdWidth-1:0]       m_axi_bid,      // that of the burst
  input  wire [1:0]                  m_axi_bresp,    // response
  input  wire                        m_axi_bvalid,   // response offered
  output wire                        m_axi_bready    // response taken
);

  // --- descriptors ---
  // The oldest is in progress.
  logic                 op_valid, op_done, queue_full;
  logic [TagWidth-1:0]  tag;
  logic [DescWidth-1:0] desc;
  axi_copy_fifo #(.Width(TagWidth + DescWidth), .Depth(4)) u_descs (
    .clk(clk_i), .rst_n(rst_ni),
    .push(desc_valid_i && desc_ready_o), .full(queue_full), .din({desc_tag_i, desc_i}),
    .valid(op_valid), .pop(op_done), .dout({tag, desc})
  );
  assign desc_ready_o = !queue_full;
  assign busy_o       = op_valid;

  // --- fields ---
  logic to_ub, to_l1, padded;
  logic [`PTO_DMA_LEN_CW-1:0]        len;
  logic [`PTO_DMA_N_BURST_CW-1:0]    n_burst;
  logic [`PTO_DMA_EXT_STRIDE_CW-1:0] src_stride;
  logic [`PTO_DMA_LOC_STRIDE_CW-1:0] dst_stride;
  logic [`PTO_DMA_LOC_ADDR_CW-1:0]   loc_addr;
  logic [`PTO_DMA_EXT_ADDR_CW-1:0]   ext_addr;
  logic [2:0]                        space;
  assign to_ub      = desc[`PTO_DESC_OPCODE] == `PTO_OP_MTE_GM_UB;
  assign to_l1      = desc[`PTO_DESC_OPCODE] == `PTO_OP_MTE_GM_L1;
  assign padded     = desc[`PTO_DMA_PAD_EN] != '0;
  assign len        = desc[`PTO_DMA_LEN];
  assign n_burst    = desc[`PTO_DMA_N_BURST];
  assign src_stride = desc[`PTO_DMA_EXT_STRIDE];
  assign dst_stride = desc[`PTO_DMA_LOC_STRIDE];
  assign loc_addr   = desc[`PTO_DMA_LOC_ADDR];
  assign ext_addr   = desc[`PTO_DMA_EXT_ADDR];
  assign space      = to_l1 ? `PTO_SPACE_L1 : desc[`PTO_DMA_UB_SUB] ? `PTO_SPACE_UB1 : `PTO_SPACE_UB0;

  // --- refused ---
  // An op that the engine does not serve, and two of the D rules.
  logic unknown, bad_base, bad_stride, refused, nothing;
  logic [7:0] refused_rule;
  assign unknown      = !(to_ub || to_l1) || padded;
  assign bad_base     = loc_addr[4:0] != '0;                                             // DMA-L06
  assign bad_stride   = n_burst > `PTO_DMA_N_BURST_CW'd1 &&
                        (src_stride < `PTO_DMA_EXT_STRIDE_CW'(len) ||
                         dst_stride < `PTO_DMA_LOC_STRIDE_CW'(len));                     // DMA-L08
  assign refused      = unknown || bad_base || bad_stride;
  assign refused_rule = unknown ? 8'd0 : bad_base ? 8'd6 : bad_stride ? 8'd8 : 8'd0;
  assign nothing      = len == '0 || n_burst == '0 || desc[`PTO_DMA_LOOP0_COUNT] == '0 ||
                        desc[`PTO_DMA_LOOP1_COUNT] == '0 || desc[`PTO_DMA_LOOP2_COUNT] == '0;

  // --- control ---
  // One op after the other.
  typedef enum logic [1:0] {Ready, Issue, Wait, Report} state_t;
  state_t state;

  logic fresh, cmd_valid, cmd_ready, rsp_valid, row_last, issue, failed;
  logic [7:0] rows_open;                       // rows without a response
  logic [GmAddrWidth-1:0] row_src;
  logic [LocalAddrWidth-1:0] row_dst;
  assign fresh     = state == Ready;
  assign cmd_valid = state == Issue;
  assign issue     = cmd_valid && cmd_ready;
  assign op_done   = done_valid_o && done_ready_i;

  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      state     <= Ready;
      rows_open <= '0;
    end else begin
      rows_open <= rows_open + 8'(issue) - 8'(rsp_valid);
      case (state)
        Ready: if (op_valid)
          state <= (refused || nothing) ? Report : Issue;
        Issue: if (issue && (row_last || failed)) state <= Wait;
        Wait: if (rows_open == '0) state <= Report;
        default: if (op_done) state <= Ready;
      endcase
    end

  // --- rows ---
  localparam int Count = `PTO_DMA_LOOP0_COUNT_CW;   // bits of the widest count
  logic [4*Count-1:0]          counts;
  logic [4*GmAddrWidth-1:0]    src_strides;
  logic [4*LocalAddrWidth-1:0] dst_strides;
  assign counts = {desc[`PTO_DMA_LOOP2_COUNT], desc[`PTO_DMA_LOOP1_COUNT], desc[`PTO_DMA_LOOP0_COUNT],
                   Count'(n_burst)};
  assign src_strides = {GmAddrWidth'(desc[`PTO_DMA_LOOP2_EXT_STRIDE]),
                        GmAddrWidth'(desc[`PTO_DMA_LOOP1_EXT_STRIDE]),
                        GmAddrWidth'(desc[`PTO_DMA_LOOP0_EXT_STRIDE]), GmAddrWidth'(src_stride)};
  assign dst_strides = {LocalAddrWidth'(desc[`PTO_DMA_LOOP2_LOC_STRIDE]),
                        LocalAddrWidth'(desc[`PTO_DMA_LOOP1_LOC_STRIDE]),
                        LocalAddrWidth'(desc[`PTO_DMA_LOOP0_LOC_STRIDE]),
                        LocalAddrWidth'(dst_stride)};

  axi_copy_rows #(.GmBits(GmAddrWidth), .LocalBits(LocalAddrWidth), .CountBits(Count)) u_rows (
    .clk(clk_i), .load(fresh),
    .src(ext_addr[GmAddrWidth-1:0]), .dst(loc_addr[LocalAddrWidth-1:0]),
    .counts, .src_strides, .dst_strides,
    .next(issue), .row_src, .row_dst, .row_last
  );

  // --- errors ---
  // The first one: its word and memory.
  logic read_bad, write_bad, reads_full_unused, reads_valid_unused;
  logic [GmAddrWidth-1:0] r_burst, r_addr;
  logic [7:0] r_beat;
  logic [2:0] status;
  logic [7:0] rule;
  logic [GmAddrWidth-1:0] bad_addr;
  axi_copy_fifo #(
    .Width(GmAddrWidth), .Depth((NumOutstanding < 2) ? 2 : 1 << $clog2(NumOutstanding))
  ) u_reads (
    .clk(clk_i), .rst_n(rst_ni),
    .push(m_axi_arvalid && m_axi_arready), .full(reads_full_unused), .din(m_axi_araddr),
    .valid(reads_valid_unused), .pop(m_axi_rvalid && m_axi_rready && m_axi_rlast), .dout(r_burst)
  );
  assign r_addr    = r_burst + GmAddrWidth'(r_beat) * GmAddrWidth'(GmDataWidth / 8);
  assign read_bad  = m_axi_rvalid && m_axi_rready && m_axi_rresp[1];
  assign write_bad = dst_req_o && dst_gnt_i && dst_err_i;

  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      r_beat <= '0;
      failed <= 1'b0;
    end else begin
      if (m_axi_rvalid && m_axi_rready) r_beat <= m_axi_rlast ? '0 : r_beat + 1'b1;
      if (op_done)                      failed <= 1'b0;
      else if (read_bad || write_bad)   failed <= 1'b1;
    end

  always_ff @(posedge clk_i)
    if (fresh) begin
      rule     <= refused_rule;
      status   <= refused ? `PTO_ST_RULE : `PTO_ST_OK;
      bad_addr <= '0;
    end else if (!failed && read_bad) begin
      status   <= m_axi_rresp[0] ? `PTO_ST_RD_DECERR : `PTO_ST_RD_SLVERR;
      bad_addr <= r_addr;
    end else if (!failed && write_bad) begin
      status   <= `PTO_ST_LOCAL;
      bad_addr <= GmAddrWidth'(dst_addr_o);
    end

  // --- done ---
  assign done_valid_o  = state == Report;
  assign done_tag_o    = tag;
  assign done_status_o = status;
  assign done_rule_o   = rule;
  assign done_addr_o   = bad_addr;

  // --- engine ---
  // Its write address space is {space, local byte address}.
  localparam int Spare = GmAddrWidth - LocalAddrWidth - 3;   // bits of a write address above

  logic awvalid, awready, wvalid, wready, wlast, bvalid, bready;
  logic [GmAddrWidth-1:0] awaddr, rsp_addr_unused;
  logic [7:0] awlen_unused;
  logic [2:0] rsp_code_unused;
  logic [GmDataWidth-1:0] wdata;
  logic [GmDataWidth/8-1:0] wstrb;
  logic [1:0] bresp;

  axi_copy #(
    .AddrWidth(GmAddrWidth), .DataWidth(GmDataWidth), .LenWidth(16), .MaxBursts(NumOutstanding)
  ) u_copy (
    .clk(clk_i), .rst_n(rst_ni), .stop(failed), .clear(op_done),
    .cmd_valid, .cmd_ready, .cmd_src(row_src), .cmd_dst({{Spare{1'b0}}, space, row_dst}),
    .cmd_len(len[15:0]),
    .rsp_valid, .rsp_ready(1'b1), .rsp_code(rsp_code_unused), .rsp_addr(rsp_addr_unused),
    .arvalid(m_axi_arvalid), .arready(m_axi_arready), .araddr(m_axi_araddr), .arlen(m_axi_arlen),
    .rvalid(m_axi_rvalid), .rready(m_axi_rready), .rdata(m_axi_rdata), .rresp(m_axi_rresp),
    .rlast(m_axi_rlast),
    .awvalid, .awready, .awaddr, .awlen(awlen_unused),
    .wvalid, .wready, .wdata, .wstrb, .wlast, .bvalid, .bready, .bresp
  );

  axi_copy_local #(
    .AddrWidth(GmAddrWidth), .DataWidth(GmDataWidth), .LocalBits(LocalAddrWidth),
    .LocalWidth(LocalDataWidth)
  ) u_local (
    .clk(clk_i), .rst_n(rst_ni),
    .awvalid, .awready, .awaddr, .wvalid, .wready, .wdata, .wstrb, .wlast, .bvalid, .bready, .bresp,
    .dst_req(dst_req_o), .dst_gnt(dst_gnt_i), .dst_space(dst_space_o), .dst_addr(dst_addr_o),
    .dst_be(dst_be_o), .dst_wdata(dst_wdata_o), .dst_err(dst_err_i)
  );

  // --- constants ---
  assign m_axi_arid    = '0;
  assign m_axi_arsize  = 3'($clog2(GmDataWidth / 8));
  assign m_axi_arburst = 2'b01;
  assign src_req_o     = 1'b0;
  assign src_space_o   = '0;
  assign src_addr_o    = '0;
  assign m_axi_awid    = '0;
  assign m_axi_awaddr  = '0;
  assign m_axi_awlen   = '0;
  assign m_axi_awsize  = '0;
  assign m_axi_awburst = '0;
  assign m_axi_awvalid = 1'b0;
  assign m_axi_wdata   = '0;
  assign m_axi_wstrb   = '0;
  assign m_axi_wlast   = 1'b0;
  assign m_axi_wvalid  = 1'b0;
  assign m_axi_bready  = 1'b0;
endmodule

`default_nettype wire

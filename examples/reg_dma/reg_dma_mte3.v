// SPDX-License-Identifier: Apache-2.0
//
// Adapter that puts reg_dma into slot mte3 for mte_ub_gm. It queues two descriptors, walks their
// loops, programs one job for the rows of each iteration over APB, waits for the interrupt, reads
// STATUS, clears, and gives one done per descriptor. The next job is written into the shadow
// registers while one runs, also that of the next descriptor; it starts when the interrupt of the
// one before is cleared. DMA-L05 to L08 are checked here, DMA-L12 is not: dut.toml excludes it.
// Only ports src and m_axi writes are used. Spec: docs/contract.md, dma.md.
//
//   clk         _/~\_/~\_/~\_/~\_/~\_/~\_/~\_
//   irq         _/~~~~~~~~~~~~~~~~~~~~~~~\___
//   APB         _____< STATUS ><IRQ_CLEAR>_____< START >
//   done_valid  _________________________/~~~     after the last job of a descriptor
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
  input  wire                        clk_i,
  input  wire                        rst_ni,
  input  wire                        desc_valid_i,
  output wire                        desc_ready_o,
  input  wire [DescWidth-1:0]        desc_i,
  input  wire [TagWidth-1:0]         desc_tag_i,
  output wire                        done_valid_o,
  input  wire                        done_ready_i,
  output wire [TagWidth-1:0]         done_tag_o,
  output wire [2:0]                  done_status_o,
  output wire [7:0]                  done_rule_o,
  output wire [GmAddrWidth-1:0]      done_addr_o,
  output wire                        busy_o,
  output wire                        src_req_o,
  input  wire                        src_gnt_i,
  output wire [2:0]                  src_space_o,
  output wire [LocalAddrWidth-1:0]   src_addr_o,
  input  wire                        src_rvalid_i,
  input  wire [LocalDataWidth-1:0]   src_rdata_i,
  input  wire                        src_err_i,
  output wire                        dst_req_o,
  input  wire                        dst_gnt_i,
  output wire [2:0]                  dst_space_o,
  output wire [LocalAddrWidth-1:0]   dst_addr_o,
  output wire [LocalDataWidth/8-1:0] dst_be_o,
  output wire [LocalDataWidth-1:0]   dst_wdata_o,
  input  wire                        dst_err_i,
  output wire [AxiIdWidth-1:0]       m_axi_arid,
  output wire [GmAddrWidth-1:0]      m_axi_araddr,
  output wire [7:0]                  m_axi_arlen,
  output wire [2:0]                  m_axi_arsize,
  output wire [1:0]                  m_axi_arburst,
  output wire                        m_axi_arvalid,
  input  wire                        m_axi_arready,
  input  wire [AxiIdWidth-1:0]       m_axi_rid,
  input  wire [GmDataWidth-1:0]      m_axi_rdata,
  input  wire [1:0]                  m_axi_rresp,
  input  wire                        m_axi_rlast,
  input  wire                        m_axi_rvalid,
  output wire                        m_axi_rready,
  output wire [AxiIdWidth-1:0]       m_axi_awid,
  output wire [GmAddrWidth-1:0]      m_axi_awaddr,
  output wire [7:0]                  m_axi_awlen,
  output wire [2:0]                  m_axi_awsize,
  output wire [1:0]                  m_axi_awburst,
  output wire                        m_axi_awvalid,
  input  wire                        m_axi_awready,
  output wire [GmDataWidth-1:0]      m_axi_wdata,
  output wire [GmDataWidth/8-1:0]    m_axi_wstrb,
  output wire                        m_axi_wlast,
  output wire                        m_axi_wvalid,
  input  wire                        m_axi_wready,
  input  wire [AxiIdWidth-1:0]       m_axi_bid,
  input  wire [1:0]                  m_axi_bresp,
  input  wire                        m_axi_bvalid,
  output wire                        m_axi_bready
);
  // The SRAM of the DMA is UB: sub-block 0 below sub-block 1.
  localparam integer UbBits       = $clog2(`PTO_SIZE_UB);
  localparam integer MemAddrWidth = UbBits + 1;
  localparam integer NumBursts    = (NumOutstanding < DmaBursts) ? NumOutstanding : DmaBursts;

  // Registers of the DMA (README.md).
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

  localparam [2:0] ERR_NONE   = 3'd0;
  localparam [2:0] ERR_SLAVE  = 3'd1;
  localparam [2:0] ERR_DECODE = 3'd2;
  localparam [2:0] ERR_SRAM   = 3'd3;

  // ---- queue of two descriptors; busy until the last done is taken ----
  reg [DescWidth+TagWidth-1:0] head_q, next_q;
  reg [1:0] queued_q;
  reg [2:0] owed_q;                          // taken and not done

  wire       take_op;                        // the walker takes the head
  wire       push   = desc_valid_i && desc_ready_o;
  wire       retire = done_valid_o && done_ready_i;
  wire [1:0] queued = queued_q - {1'b0, take_op};

  assign desc_ready_o = queued_q != 2'd2;
  assign busy_o       = owed_q != 3'd0;

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      queued_q <= 2'd0;
      owed_q   <= 3'd0;
    end else begin
      queued_q <= queued + {1'b0, push};
      owed_q   <= owed_q + {2'd0, push} - {2'd0, retire};
    end
  end

  always @(posedge clk_i) begin
    if (push && queued == 2'd0) head_q <= {desc_tag_i, desc_i};
    else if (take_op) head_q <= next_q;
    if (push && queued != 2'd0) next_q <= {desc_tag_i, desc_i};
  end

  // ---- the head: fields, rules DMA-L05 to L08. A loop that is absent counts once. Length and rows
  // have 16 bits in the DMA: profile seed, len_bits = 16. ----
  wire [DescWidth-1:0] desc = head_q[DescWidth-1:0];

  wire [21:0] len        = desc[`PTO_DMA_LEN];
  wire [21:0] n_burst    = desc[`PTO_DMA_N_BURST];
  wire [43:0] gm_addr    = desc[`PTO_DMA_EXT_ADDR];
  wire [23:0] ub_addr    = desc[`PTO_DMA_LOC_ADDR];
  wire [40:0] gm_stride  = desc[`PTO_DMA_EXT_STRIDE];
  wire [21:0] ub_stride  = desc[`PTO_DMA_LOC_STRIDE];
  wire [1:0]  n_loops    = desc[`PTO_DMA_N_LOOPS];
  wire [21:0] count0     = (n_loops > 2'd0) ? desc[`PTO_DMA_LOOP0_COUNT]      : 22'd1;
  wire [40:0] gm_stride0 = (n_loops > 2'd0) ? desc[`PTO_DMA_LOOP0_EXT_STRIDE] : 41'd0;
  wire [21:0] ub_stride0 = (n_loops > 2'd0) ? desc[`PTO_DMA_LOOP0_LOC_STRIDE] : 22'd0;
  wire [21:0] count1     = (n_loops > 2'd1) ? desc[`PTO_DMA_LOOP1_COUNT]      : 22'd1;
  wire [40:0] gm_stride1 = (n_loops > 2'd1) ? desc[`PTO_DMA_LOOP1_EXT_STRIDE] : 41'd0;
  wire [21:0] ub_stride1 = (n_loops > 2'd1) ? desc[`PTO_DMA_LOOP1_LOC_STRIDE] : 22'd0;
  wire [21:0] count2     = (n_loops > 2'd2) ? desc[`PTO_DMA_LOOP2_COUNT]      : 22'd1;
  wire [40:0] gm_stride2 = (n_loops > 2'd2) ? desc[`PTO_DMA_LOOP2_EXT_STRIDE] : 41'd0;
  wire [21:0] ub_stride2 = (n_loops > 2'd2) ? desc[`PTO_DMA_LOOP2_LOC_STRIDE] : 22'd0;

  wire known = desc[`PTO_DESC_OPCODE] == `PTO_OP_MTE_UB_GM;
  wire empty = len == 22'd0 || n_burst == 22'd0 || count0 == 22'd0 || count1 == 22'd0
            || count2 == 22'd0;
  wire l05 = |len[21:16] || |n_burst[21:16] || count0[21] || count1[21] || count2[21]
          || gm_stride[40] || gm_stride0[40] || gm_stride1[40] || gm_stride2[40]
          || ub_stride[21] || ub_stride0[21] || ub_stride1[21] || ub_stride2[21]
          || |(desc[`PTO_DMA_L2] >> `PTO_W_MTE_UB_GM_L2);
  wire l06 = ub_addr[4:0] != 5'd0;
  wire l07 = (n_burst > 22'd1 && ub_stride[4:0] != 5'd0)
          || (count0 > 22'd1 && ub_stride0[4:0] != 5'd0)
          || (count1 > 22'd1 && ub_stride1[4:0] != 5'd0)
          || (count2 > 22'd1 && ub_stride2[4:0] != 5'd0);
  wire l08 = n_burst > 22'd1 && (gm_stride < {19'd0, len} || ub_stride < len);

  wire       bad  = !known || l05 || l06 || l07 || l08;
  wire [7:0] rule = !known ? 8'd0 : l05 ? 8'd5 : l06 ? 8'd6 : l07 ? 8'd7 : l08 ? 8'd8 : 8'd0;

  // ---- walker: one descriptor, its current job, and the start of each loop ----
  reg                    op_q;               // a descriptor is present
  reg                    idle_op_q;          // a NOP or a bad op: no jobs
  reg                    bad_q;
  reg [7:0]              rule_q;
  reg [TagWidth-1:0]     tag_q;
  reg [15:0]             len_q, rows_q;
  reg [20:0]             count0_q, count1_q;         // of a loop that begins again
  reg [20:0]             left0_q, left1_q, left2_q;   // iterations left, with this one
  reg [GmAddrWidth-1:0]  gm_q, gm1_q, gm2_q;          // this job; start of loops 0 and 1
  reg [MemAddrWidth-1:0] ub_q, ub1_q, ub2_q;
  reg [GmAddrWidth-1:0]  gm_stride_q, gm_stride0_q, gm_stride1_q, gm_stride2_q;
  reg [MemAddrWidth-1:0] ub_stride_q, ub_stride0_q, ub_stride1_q, ub_stride2_q;

  wire last0    = left0_q == 21'd1;
  wire last1    = left1_q == 21'd1;
  wire last2    = left2_q == 21'd1;
  wire last_job = last0 && last1 && last2;
  wire [GmAddrWidth-1:0]  gm_step  = last0 ? (last1 ? gm2_q + gm_stride2_q : gm1_q + gm_stride1_q)
                                   : gm_q + gm_stride0_q;
  wire [MemAddrWidth-1:0] ub_step  = last0 ? (last1 ? ub2_q + ub_stride2_q : ub1_q + ub_stride1_q)
                                   : ub_q + ub_stride0_q;

  wire started;                              // the job was started
  wire drop;                                 // an error: no more jobs of this descriptor
  wire report_idle;                          // the done of a descriptor without jobs

  assign take_op = queued_q != 2'd0 && !op_q;

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) op_q <= 1'b0;
    else if (take_op) op_q <= 1'b1;
    else if (drop || report_idle || (started && last_job)) op_q <= 1'b0;
  end

  always @(posedge clk_i) begin
    if (take_op) begin
      idle_op_q    <= bad || empty;
      bad_q        <= bad;
      rule_q       <= rule;
      tag_q        <= head_q[DescWidth +: TagWidth];
      len_q        <= len[15:0];
      rows_q       <= n_burst[15:0];
      {count0_q, count1_q}        <= {count0[20:0], count1[20:0]};
      {left0_q, left1_q, left2_q} <= {count0[20:0], count1[20:0], count2[20:0]};
      gm_q         <= gm_addr[GmAddrWidth-1:0];
      gm1_q        <= gm_addr[GmAddrWidth-1:0];
      gm2_q        <= gm_addr[GmAddrWidth-1:0];
      ub_q         <= {desc[`PTO_DMA_UB_SUB], ub_addr[UbBits-1:0]};
      ub1_q        <= {desc[`PTO_DMA_UB_SUB], ub_addr[UbBits-1:0]};
      ub2_q        <= {desc[`PTO_DMA_UB_SUB], ub_addr[UbBits-1:0]};
      gm_stride_q  <= gm_stride[GmAddrWidth-1:0];
      gm_stride0_q <= gm_stride0[GmAddrWidth-1:0];
      gm_stride1_q <= gm_stride1[GmAddrWidth-1:0];
      gm_stride2_q <= gm_stride2[GmAddrWidth-1:0];
      ub_stride_q  <= ub_stride[MemAddrWidth-1:0];
      ub_stride0_q <= ub_stride0[MemAddrWidth-1:0];
      ub_stride1_q <= ub_stride1[MemAddrWidth-1:0];
      ub_stride2_q <= ub_stride2[MemAddrWidth-1:0];
    end else if (started) begin
      gm_q    <= gm_step;
      ub_q    <= ub_step;
      left0_q <= last0 ? count0_q : left0_q - 21'd1;
      if (last0) begin
        gm1_q   <= gm_step;
        ub1_q   <= ub_step;
        left1_q <= last1 ? count1_q : left1_q - 21'd1;
      end
      if (last0 && last1) begin
        gm2_q   <= gm_step;
        ub2_q   <= ub_step;
        left2_q <= left2_q - 21'd1;
      end
    end
  end

  // ---- APB manager: one transfer after the other ----
  reg         psel_q, penable_q, pwrite_q;
  reg  [7:0]  paddr_q;
  reg  [31:0] pwdata_q;
  wire [31:0] prdata;
  wire        pready, pslverr, irq;
  wire        apb_end = psel_q && penable_q && pready;
  wire        wrote   = apb_end && pwrite_q;
  wire        read    = apb_end && !pwrite_q;

  // ---- next transfer: the interrupt first, then the next job's registers, then START ----
  reg [3:0]             step_q;              // register of the job to write, 8: all are written
  reg                   running_q;           // a job was started, its interrupt not cleared
  reg                   run_last_q;          // it is the last of its descriptor
  reg [TagWidth-1:0]    run_tag_q;
  reg                   asked_q;             // its STATUS is known
  reg [2:0]             error_q;
  reg [1:0]             located_q;           // words of ERR_ADDR that were read
  reg [GmAddrWidth-1:0] error_addr_q;
  reg                   done_valid_q;

  wire job_there  = op_q && !idle_op_q;
  wire ends_op    = run_last_q || error_q != ERR_NONE;  // once STATUS is known
  wire can_report = !done_valid_q || done_ready_i;

  reg         want, want_write;
  reg [7:0]   want_addr;
  reg [31:0]  want_data;
  always @* begin
    want       = 1'b1;
    want_write = 1'b1;
    want_addr  = CTRL;
    want_data  = 32'd0;
    if (running_q && irq) begin
      want_write = 1'b0;
      if (!asked_q) want_addr = STATUS;
      else if (error_q != ERR_NONE && located_q == 2'd0) want_addr = ERR_ADDR_LO;
      else if (error_q != ERR_NONE && located_q == 2'd1) want_addr = ERR_ADDR_HI;
      else begin
        want       = !ends_op || can_report;
        want_write = 1'b1;
        want_addr  = IRQ_CLEAR;
        want_data  = 32'd1;
      end
    end else if (job_there && step_q != 4'd8) begin
      case (step_q)                          // addresses last: a loop changes no more than these
        4'd0: begin
          want_addr = ROW_LEN;
          want_data = {16'd0, len_q};
        end
        4'd1: begin
          want_addr = ROWS;
          want_data = {16'd0, rows_q};
        end
        4'd2: begin
          want_addr = SRC_STRIDE;
          want_data = {{(32 - MemAddrWidth){1'b0}}, ub_stride_q};
        end
        4'd3: begin
          want_addr = DST_STRIDE_LO;
          want_data = gm_stride_q[31:0];
        end
        4'd4: begin
          want_addr = DST_STRIDE_HI;
          want_data = {{(64 - GmAddrWidth){1'b0}}, gm_stride_q[GmAddrWidth-1:32]};
        end
        4'd5: begin
          want_addr = SRC;
          want_data = {{(32 - MemAddrWidth){1'b0}}, ub_q};
        end
        4'd6: begin
          want_addr = DST_LO;
          want_data = gm_q[31:0];
        end
        default: begin
          want_addr = DST_HI;
          want_data = {{(64 - GmAddrWidth){1'b0}}, gm_q[GmAddrWidth-1:32]};
        end
      endcase
    end else begin
      want      = job_there && !running_q;
      want_data = 32'd3;                     // START, interrupt enabled
    end
  end

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      psel_q    <= 1'b0;
      penable_q <= 1'b0;
    end else begin
      psel_q    <= psel_q ? !apb_end : want;
      penable_q <= psel_q && !apb_end;
    end
  end

  always @(posedge clk_i) begin
    if (!psel_q) begin
      pwrite_q <= want_write;
      paddr_q  <= want_addr;
      pwdata_q <= want_data;
    end
  end

  // A START that the DMA rejects is offered again.
  assign started = wrote && paddr_q == CTRL && !pslverr;

  wire cleared    = wrote && paddr_q == IRQ_CLEAR;
  wire programmed = wrote && paddr_q != CTRL && paddr_q != IRQ_CLEAR;
  assign drop        = cleared && error_q != ERR_NONE && !run_last_q;
  assign report_idle = op_q && idle_op_q && !running_q && can_report;

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      running_q <= 1'b0;
      step_q    <= 4'd0;
      asked_q   <= 1'b0;
      located_q <= 2'd0;
    end else begin
      if (started) running_q <= 1'b1;
      else if (cleared) running_q <= 1'b0;
      if (take_op) step_q <= 4'd0;
      else if (started) step_q <= 4'd5;
      else if (programmed) step_q <= step_q + 4'd1;
      if (cleared) asked_q <= 1'b0;
      else if (read && paddr_q == STATUS) asked_q <= 1'b1;
      if (cleared) located_q <= 2'd0;
      else if (read && paddr_q != STATUS) located_q <= located_q + 2'd1;
    end
  end

  always @(posedge clk_i) begin
    if (started) begin
      run_last_q   <= last_job;
      run_tag_q    <= tag_q;
      error_q      <= ERR_NONE;
      error_addr_q <= {GmAddrWidth{1'b0}};
    end
    if (read && paddr_q == STATUS) error_q <= prdata[6:4];
    if (read && paddr_q == ERR_ADDR_LO) error_addr_q[31:0] <= prdata;
    if (read && paddr_q == ERR_ADDR_HI)
      error_addr_q[GmAddrWidth-1:32] <= prdata[GmAddrWidth-33:0];
  end

  // ---- done ----
  reg [TagWidth-1:0]    done_tag_q;
  reg [2:0]             done_status_q;
  reg [7:0]             done_rule_q;
  reg [GmAddrWidth-1:0] done_addr_q;
  reg [2:0]             status;

  always @* begin
    case (error_q)
      ERR_NONE:   status = `PTO_ST_OK;
      ERR_SLAVE:  status = `PTO_ST_WR_SLVERR;
      ERR_DECODE: status = `PTO_ST_WR_DECERR;
      default:    status = `PTO_ST_LOCAL;
    endcase
  end

  wire report_run = cleared && ends_op;

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) done_valid_q <= 1'b0;
    else if (report_run || report_idle) done_valid_q <= 1'b1;
    else if (done_ready_i) done_valid_q <= 1'b0;
  end

  always @(posedge clk_i) begin
    if (report_run) begin
      done_tag_q    <= run_tag_q;
      done_status_q <= status;
      done_rule_q   <= 8'd0;
      // An address in UB counts from the start of its sub-block.
      done_addr_q   <= (error_q == ERR_SRAM) ? {{(GmAddrWidth - UbBits){1'b0}},
                                                error_addr_q[UbBits-1:0]} : error_addr_q;
    end else if (report_idle) begin
      done_tag_q    <= tag_q;
      done_status_q <= bad_q ? `PTO_ST_RULE : `PTO_ST_OK;
      done_rule_q   <= rule_q;
      done_addr_q   <= {GmAddrWidth{1'b0}};
    end
  end

  assign done_valid_o  = done_valid_q;
  assign done_tag_o    = done_tag_q;
  assign done_status_o = done_status_q;
  assign done_rule_o   = done_rule_q;
  assign done_addr_o   = done_addr_q;

  // ---- the DMA ----
  wire [MemAddrWidth-1:0] mem_addr;

  assign src_space_o = mem_addr[UbBits] ? `PTO_SPACE_UB1 : `PTO_SPACE_UB0;
  assign src_addr_o  = {{(LocalAddrWidth - UbBits){1'b0}}, mem_addr[UbBits-1:0]};

  reg_dma #(
    .AddrWidth    (GmAddrWidth),
    .BusWidth     (GmDataWidth),
    .MemWidth     (LocalDataWidth),
    .MemAddrWidth (MemAddrWidth),
    .IdWidth      (AxiIdWidth),
    .NumBursts    (NumBursts)
  ) u_dma (
    .clk        (clk_i),
    .rst_n      (rst_ni),
    .psel       (psel_q),
    .penable    (penable_q),
    .pwrite     (pwrite_q),
    .paddr      (paddr_q),
    .pwdata     (pwdata_q),
    .prdata     (prdata),
    .pready     (pready),
    .pslverr    (pslverr),
    .irq        (irq),
    .mem_req    (src_req_o),
    .mem_gnt    (src_gnt_i),
    .mem_addr   (mem_addr),
    .mem_rvalid (src_rvalid_i),
    .mem_rdata  (src_rdata_i),
    .mem_rerr   (src_err_i),
    .awid       (m_axi_awid),
    .awaddr     (m_axi_awaddr),
    .awlen      (m_axi_awlen),
    .awsize     (m_axi_awsize),
    .awburst    (m_axi_awburst),
    .awvalid    (m_axi_awvalid),
    .awready    (m_axi_awready),
    .wdata      (m_axi_wdata),
    .wstrb      (m_axi_wstrb),
    .wlast      (m_axi_wlast),
    .wvalid     (m_axi_wvalid),
    .wready     (m_axi_wready),
    .bresp      (m_axi_bresp),
    .bvalid     (m_axi_bvalid),
    .bready     (m_axi_bready)
  );

  // ---- ports that the op does not use ----
  assign dst_req_o     = 1'b0;
  assign dst_space_o   = 3'd0;
  assign dst_addr_o    = {LocalAddrWidth{1'b0}};
  assign dst_be_o      = {(LocalDataWidth / 8){1'b0}};
  assign dst_wdata_o   = {LocalDataWidth{1'b0}};
  assign m_axi_arid    = {AxiIdWidth{1'b0}};
  assign m_axi_araddr  = {GmAddrWidth{1'b0}};
  assign m_axi_arlen   = 8'd0;
  assign m_axi_arsize  = 3'd0;
  assign m_axi_arburst = 2'd0;
  assign m_axi_arvalid = 1'b0;
  assign m_axi_rready  = 1'b0;

  // Of legal ops the addresses and strides fit; the pad clause and the bits above the last field
  // are ignored.
  localparam integer UsedBits = `PTO_DMA_LOOP2_LOC_STRIDE_LSB + `PTO_DMA_LOOP2_LOC_STRIDE_CW;
  wire unused = &{1'b0, dst_gnt_i, dst_err_i, m_axi_arready, m_axi_rid, m_axi_rdata, m_axi_rresp,
                  m_axi_rlast, m_axi_rvalid, m_axi_bid, desc[DescWidth-1:UsedBits],
                  desc[`PTO_DMA_PAD_VALUE], desc[`PTO_DMA_PAD_RIGHT], desc[`PTO_DMA_PAD_LEFT],
                  desc[`PTO_DMA_PAD_LEGACY], desc[`PTO_DMA_PAD_EN], desc[`PTO_DMA_ELEM_LOG2],
                  gm_addr[43:40], ub_addr[23:UbBits], ub_stride[20:MemAddrWidth],
                  ub_stride0[20:MemAddrWidth], ub_stride1[20:MemAddrWidth],
                  ub_stride2[20:MemAddrWidth]};
endmodule

`default_nettype wire

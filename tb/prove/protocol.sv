// SPDX-License-Identifier: Apache-2.0
//
// docs/protocol.md as one module around the ports of an engine: what an engine owes is asserted, by
// the name of the rule; what memories and drivers of descriptors owe is assumed. `pto-dv prove` wraps
// it around the module of a manifest (docs/formal.md). Reset is low in the first clock alone; registers
// of the engine start with any value, so that this reset stands for any. A label reach_* asserts that
// something never happens, and is refuted where it does. A rule about every burst is checked of one, of
// which pick_i chooses the number. With PTO_FIX it has the ports of slot fix.
`include "pto_desc.vh"

module pto_protocol #(
  parameter integer GmAddrWidth    = 40,     // bits of a GM byte address
  parameter integer GmDataWidth    = 128,    // bits of the AXI data bus
  parameter integer LocalAddrWidth = 20,     // bits of a local byte address
  parameter integer LocalDataWidth = 128,    // bits of a word of dst
  parameter integer SrcDataWidth   = 128,    // bits of a word of src and par
  parameter integer DescWidth      = 512,    // bits of a descriptor
  parameter integer TagWidth       = 4,      // bits of a tag
  parameter integer NumOutstanding = 2,      // most bursts in flight in each direction
  parameter integer AxiIdWidth     = 4,      // bits of the AXI IDs
  parameter [255:0] Ops            = 256'd0, // opcodes that are offered
  parameter [31:0]  Legal          = 32'd0,  // rules DMA-Ln that strided copies with GM do not break
  parameter integer Loops          = 3,      // most loops of an op
  parameter integer ReadErrors     = 1,      // errors that occur: of GM reads,
  parameter integer WriteErrors    = 1,      // of GM writes,
  parameter integer LocalErrors    = 1       // of local ports
) (
  input wire                        clk_i,
  input wire                        rst_ni,
  input wire [4:0]                  pick_i,  // in reset: number of the burst that is followed
  input wire                        desc_valid_i,
  input wire                        desc_ready_o,
  input wire [DescWidth-1:0]        desc_i,
  input wire [TagWidth-1:0]         desc_tag_i,
  input wire                        done_valid_o,
  input wire                        done_ready_i,
  input wire [TagWidth-1:0]         done_tag_o,
  input wire [2:0]                  done_status_o,
  input wire [7:0]                  done_rule_o,
  input wire [GmAddrWidth-1:0]      done_addr_o,
  input wire                        busy_o,
  input wire                        src_req_o,
  input wire                        src_gnt_i,
  input wire [2:0]                  src_space_o,
  input wire [LocalAddrWidth-1:0]   src_addr_o,
  input wire                        src_rvalid_i,
  input wire [SrcDataWidth-1:0]     src_rdata_i,
  input wire                        src_err_i,
  input wire                        dst_req_o,
  input wire                        dst_gnt_i,
  input wire [2:0]                  dst_space_o,
  input wire [LocalAddrWidth-1:0]   dst_addr_o,
  input wire [LocalDataWidth/8-1:0] dst_be_o,
  input wire [LocalDataWidth-1:0]   dst_wdata_o,
  input wire                        dst_err_i,
`ifdef PTO_FIX
  input wire                        par_req_o,
  input wire                        par_gnt_i,
  input wire [2:0]                  par_space_o,
  input wire [LocalAddrWidth-1:0]   par_addr_o,
  input wire                        par_rvalid_i,
  input wire [SrcDataWidth-1:0]     par_rdata_i,
  input wire                        par_err_i,
  input wire                        flag_req_o,
  input wire                        flag_gnt_i,
  input wire                        flag_clear_o,
  input wire [3:0]                  flag_addr_o,
  input wire [31:0]                 flag_mask_o,
  input wire                        flag_rvalid_i,
  input wire [31:0]                 flag_rdata_i,
`endif
  input wire [AxiIdWidth-1:0]       m_axi_arid,
  input wire [GmAddrWidth-1:0]      m_axi_araddr,
  input wire [7:0]                  m_axi_arlen,
  input wire [2:0]                  m_axi_arsize,
  input wire [1:0]                  m_axi_arburst,
  input wire                        m_axi_arvalid,
  input wire                        m_axi_arready,
  input wire [AxiIdWidth-1:0]       m_axi_rid,
  input wire [GmDataWidth-1:0]      m_axi_rdata,
  input wire [1:0]                  m_axi_rresp,
  input wire                        m_axi_rlast,
  input wire                        m_axi_rvalid,
  input wire                        m_axi_rready,
  input wire [AxiIdWidth-1:0]       m_axi_awid,
  input wire [GmAddrWidth-1:0]      m_axi_awaddr,
  input wire [7:0]                  m_axi_awlen,
  input wire [2:0]                  m_axi_awsize,
  input wire [1:0]                  m_axi_awburst,
  input wire                        m_axi_awvalid,
  input wire                        m_axi_awready,
  input wire [GmDataWidth-1:0]      m_axi_wdata,
  input wire [GmDataWidth/8-1:0]    m_axi_wstrb,
  input wire                        m_axi_wlast,
  input wire                        m_axi_wvalid,
  input wire                        m_axi_wready,
  input wire [AxiIdWidth-1:0]       m_axi_bid,
  input wire [1:0]                  m_axi_bresp,
  input wire                        m_axi_bvalid,
  input wire                        m_axi_bready
);
  localparam integer       Bytes = GmDataWidth / 8;
  localparam integer       Lane  = $clog2(Bytes);
  localparam [2:0]         Size  = Lane;
  localparam [5:0]         Most  = NumOutstanding;
  localparam integer       Open  = 15;       // most descriptors in the engine
  localparam integer       Past  = 16;       // done tags that count as answered already

  // True when a burst leaves its 4 KiB page.
  function automatic crosses(input [11:0] addr, input [7:0] len);
    crosses = ({8'd0, addr >> Lane} + {12'd0, len}) >= 20'd4096 / Bytes;
  endfunction

  // True when two bursts, each in one page, have a beat in common.
  function automatic overlap(input [GmAddrWidth-1:0] a, input [7:0] a_len,
                             input [GmAddrWidth-1:0] b, input [7:0] b_len);
    overlap = a[GmAddrWidth-1:12] == b[GmAddrWidth-1:12]
              && {1'b0, a[11:0] >> Lane} <= {1'b0, b[11:0] >> Lane} + {5'd0, b_len}
              && {1'b0, b[11:0] >> Lane} <= {1'b0, a[11:0] >> Lane} + {5'd0, a_len};
  endfunction

  // True when a word is outside of its memory (contract.md, Spaces); space 0 has a rule of its own.
  function automatic outside(input [2:0] space, input [LocalAddrWidth-1:0] addr);
    case (space)
      `PTO_SPACE_L1: outside = addr >= `PTO_SIZE_L1;
      `PTO_SPACE_BT: outside = addr >= `PTO_SIZE_BT;
      `PTO_SPACE_FB: outside = addr[15:0] >= `PTO_FB_SEGMENT_BYTES || (addr >> 16) > 1;
      `PTO_SPACE_L0: outside = (addr >> 17) > 3
                               || addr[16:0] >= (addr[18] ? `PTO_SIZE_L0A_MX : `PTO_SIZE_L0A);
      default:       outside = addr >= `PTO_SIZE_UB;       // L0C is as large
    endcase
  endfunction

  wire ar_fire   = m_axi_arvalid && m_axi_arready;
  wire r_fire    = m_axi_rvalid && m_axi_rready;
  wire aw_fire   = m_axi_awvalid && m_axi_awready;
  wire w_fire    = m_axi_wvalid && m_axi_wready;
  wire b_fire    = m_axi_bvalid && m_axi_bready;
  wire desc_fire = desc_valid_i && desc_ready_o;
  wire done_fire = done_valid_o && done_ready_i;
  wire src_fire  = src_req_o && src_gnt_i;
  wire dst_fire  = dst_req_o && dst_gnt_i;

  // ---- what waits for its ready, as it was a clock ago ----
  wire [AxiIdWidth+GmAddrWidth+12:0] ar = {m_axi_arid, m_axi_araddr, m_axi_arlen, m_axi_arsize,
                                           m_axi_arburst};
  wire [AxiIdWidth+GmAddrWidth+12:0] aw = {m_axi_awid, m_axi_awaddr, m_axi_awlen, m_axi_awsize,
                                           m_axi_awburst};
  wire [GmDataWidth/8*9:0]           w = {m_axi_wdata, m_axi_wstrb, m_axi_wlast};
  wire [AxiIdWidth+GmDataWidth+2:0]  r = {m_axi_rid, m_axi_rdata, m_axi_rresp, m_axi_rlast};
  wire [AxiIdWidth+1:0]              b = {m_axi_bid, m_axi_bresp};
  wire [TagWidth+DescWidth-1:0]      desc = {desc_tag_i, desc_i};
  wire [TagWidth+GmAddrWidth+10:0]   done = {done_tag_o, done_status_o, done_rule_o, done_addr_o};
  wire [LocalAddrWidth+2:0]          src = {src_space_o, src_addr_o};
  wire [LocalAddrWidth+LocalDataWidth/8*9+2:0] dst = {dst_space_o, dst_addr_o, dst_be_o, dst_wdata_o};
  reg ar_waits, aw_waits, w_waits, r_waits, b_waits, desc_waits, done_waits, src_waits, dst_waits;
  reg [AxiIdWidth+GmAddrWidth+12:0] ar_q, aw_q;
  reg [GmDataWidth/8*9:0]           w_q;
  reg [AxiIdWidth+GmDataWidth+2:0]  r_q;
  reg [AxiIdWidth+1:0]              b_q;
  reg [TagWidth+DescWidth-1:0]      desc_q;
  reg [TagWidth+GmAddrWidth+10:0]   done_q;
  reg [LocalAddrWidth+2:0]          src_q;
  reg [LocalAddrWidth+LocalDataWidth/8*9+2:0] dst_q;
  always @(posedge clk_i) begin
    ar_waits   <= rst_ni && m_axi_arvalid && !m_axi_arready;
    aw_waits   <= rst_ni && m_axi_awvalid && !m_axi_awready;
    w_waits    <= rst_ni && m_axi_wvalid && !m_axi_wready;
    r_waits    <= rst_ni && m_axi_rvalid && !m_axi_rready;
    b_waits    <= rst_ni && m_axi_bvalid && !m_axi_bready;
    desc_waits <= rst_ni && desc_valid_i && !desc_ready_o;
    done_waits <= rst_ni && done_valid_o && !done_ready_i;
    src_waits  <= rst_ni && src_req_o && !src_gnt_i;
    dst_waits  <= rst_ni && dst_req_o && !dst_gnt_i;
    {ar_q, aw_q, w_q, r_q, b_q}    <= {ar, aw, w, r, b};
    {desc_q, done_q, src_q, dst_q} <= {desc, done, src, dst};
  end

  // ---- reads of GM: bursts without their last beat, the lengths of the oldest lowest ----
  reg                          ar_known, aw_known;
  reg [AxiIdWidth-1:0]         ar_first, aw_first;
  reg [5:0]                    reads;
  reg [8*NumOutstanding+7:0]   lens;
  reg [7:0]                    r_beats;      // of the oldest
  wire                         r_end = r_fire && m_axi_rlast;
  wire [5:0]                   r_place = reads - {5'd0, r_end};
  wire [8*NumOutstanding+7:0]  lens_left = r_end ? lens >> 8 : lens;
  wire [8*NumOutstanding+7:0]  slot_mask = {{8*NumOutstanding{1'b0}}, 8'hff} << {r_place, 3'd0};
  always @(posedge clk_i)
    if (!rst_ni) begin
      {ar_known, aw_known} <= 2'd0;
      reads   <= 6'd0;
      r_beats <= 8'd0;
    end else begin
      if (ar_fire) ar_known <= 1'b1;
      if (aw_fire) aw_known <= 1'b1;
      if (ar_fire && !ar_known) ar_first <= m_axi_arid;
      if (aw_fire && !aw_known) aw_first <= m_axi_awid;
      reads <= r_place + {5'd0, ar_fire};
      lens  <= !ar_fire ? lens_left
               : (lens_left & ~slot_mask) | ({NumOutstanding+1{m_axi_arlen}} & slot_mask);
      if (r_fire) r_beats <= m_axi_rlast ? 8'd0 : r_beats + 8'd1;
    end

  // ---- writes of GM: bursts without their B, by their AW and by their last W; one is followed ----
  reg [4:0]              pick, aws, ws, bs;  // numbers of the next AW, W and B
  reg [5:0]              aw_open, w_open;
  reg [8:0]              w_beats;            // of the burst in progress
  reg                    f_aw, f_w, f_b;     // the followed burst has had its AW, last W and B
  reg [GmAddrWidth-1:0]  f_addr;
  reg [7:0]              f_len;
  reg [8:0]              f_beats;            // less 1
  wire                   w_end  = w_fire && m_axi_wlast;
  wire                   f_now  = aw_fire && aws == pick && !f_aw;
  wire                   f_beat = w_fire && ws == pick && !f_w;
  wire                   f_here = f_aw || f_now;
  wire [7:0]             f_most = f_now ? m_axi_awlen : f_len;
  wire                   f_resp = b_fire && bs == pick;
  always @(posedge clk_i)
    if (!rst_ni) begin
      pick <= pick_i;
      {aws, ws, bs}     <= 15'd0;
      {aw_open, w_open} <= 12'd0;
      {f_aw, f_w, f_b}  <= 3'd0;
      w_beats <= 9'd0;
    end else begin
      aws     <= aws + {4'd0, aw_fire};
      ws      <= ws + {4'd0, w_end};
      bs      <= bs + {4'd0, b_fire};
      aw_open <= aw_open + {5'd0, aw_fire} - {5'd0, b_fire};
      w_open  <= w_open + {5'd0, w_end} - {5'd0, b_fire};
      if (w_fire) w_beats <= m_axi_wlast ? 9'd0 : w_beats + 9'd1;
      if (f_now) {f_aw, f_addr, f_len} <= {1'b1, m_axi_awaddr, m_axi_awlen};
      if (f_beat && m_axi_wlast) {f_w, f_beats} <= {1'b1, w_beats};
      if (f_resp && f_aw) f_b <= 1'b1;
    end

  wire axi_offers  = m_axi_arvalid || m_axi_awvalid || m_axi_wvalid;
  wire reads_open  = m_axi_arvalid || (reads != 6'd0 && !(reads == 6'd1 && r_end));
  wire writes_open = m_axi_awvalid || m_axi_wvalid || w_beats != 9'd0 || aw_open != w_open
                     || (aw_open != 6'd0 && !(aw_open == 6'd1 && b_fire));

  // ---- descriptors: their tags, the newest lowest ----
  reg [(Open+Past)*TagWidth-1:0] tags;
  reg [3:0]            open;                 // taken and not done
  reg [4:0]            past;                 // dones since the reset, at most Past
  reg                  idle_seen;            // busy has had a clock to fall
  reg                  alone;                // no other descriptor since the newest was taken
  reg                  moved;                // a bus moved since then
  reg [5:0]            src_owed;
  wire                 retire = done_fire && open != 4'd0;
  wire [TagWidth-1:0]  oldest = tags >> (({28'd0, open} - 32'd1) * TagWidth);
  wire [Open+Past-1:0] same, younger, earlier;
  genvar k;
  generate
    for (k = 0; k < Open + Past; k = k + 1) begin : g_tag
      assign same[k]    = tags[k*TagWidth +: TagWidth] == done_tag_o;
      assign younger[k] = same[k] && k + 1 < open;
      assign earlier[k] = same[k] && k >= open && k < open + past;
    end
  endgenerate
  wire offer = done_valid_o && !done_waits;
  wire last  = offer && open == 4'd1;
  wire wrong = offer && (open == 4'd0 || done_tag_o != oldest);
  wire moves = src_req_o || dst_req_o || axi_offers;
  always @(posedge clk_i)
    if (!rst_ni) begin
      open      <= 4'd0;
      past      <= 5'd0;
      idle_seen <= 1'b0;
      src_owed  <= 6'd0;
      {alone, moved} <= 2'd0;
    end else begin
      open      <= open + {3'd0, desc_fire} - {3'd0, retire};
      if (retire && past != Past) past <= past + 5'd1;
      idle_seen <= open == 4'd0;
      src_owed  <= src_owed + {5'd0, src_fire} - {5'd0, src_rvalid_i};
      moved     <= !desc_fire && (moved || moves);
      if (desc_fire) begin
        tags  <= {tags, desc_tag_i};
        alone <= open == {3'd0, retire};
      end
    end

`ifdef PTO_FIX
  wire [LocalAddrWidth+2:0] par  = {par_space_o, par_addr_o};
  wire [36:0]               flag = {flag_clear_o, flag_addr_o, flag_mask_o};
  reg                       par_waits, flag_waits;
  reg [LocalAddrWidth+2:0]  par_q;
  reg [36:0]                flag_q;
  reg [5:0]                 par_owed, flag_owed;
  wire                      par_left  = par_owed != {5'd0, par_rvalid_i};
  wire                      flag_left = flag_owed != {5'd0, flag_rvalid_i};
  wire                      side_moves = par_req_o || flag_req_o;
  always @(posedge clk_i) begin
    par_waits  <= rst_ni && par_req_o && !par_gnt_i;
    flag_waits <= rst_ni && flag_req_o && !flag_gnt_i;
    {par_q, flag_q} <= {par, flag};
    par_owed  <= !rst_ni ? 6'd0 : par_owed + {5'd0, par_req_o && par_gnt_i} - {5'd0, par_rvalid_i};
    flag_owed <= !rst_ni ? 6'd0 : flag_owed + {5'd0, flag_req_o && flag_gnt_i && !flag_clear_o}
                                  - {5'd0, flag_rvalid_i};
  end
`else
  wire side_moves = 1'b0;
`endif

  // ---- descriptors that are offered ----
  wire [7:0]  opcode = desc_i[`PTO_DESC_OPCODE];
  wire        load   = opcode == `PTO_OP_MTE_GM_UB || opcode == `PTO_OP_MTE_GM_L1;
  wire        copy   = load || opcode == `PTO_OP_MTE_UB_GM;
  wire        nested = copy || opcode == `PTO_OP_MTE_L1_UB;
  wire [1:0]  loops  = desc_i[`PTO_DMA_N_LOOPS];
  wire [21:0] len    = desc_i[`PTO_DMA_LEN];
  wire [43:0] ext    = desc_i[`PTO_DMA_EXT_ADDR];
  wire [23:0] loc    = desc_i[`PTO_DMA_LOC_ADDR];
  wire [21:0] n0     = desc_i[`PTO_DMA_N_BURST];           // 0: rows; 1 to 3: loops 0 to 2
  wire [21:0] n1     = desc_i[`PTO_DMA_LOOP0_COUNT];
  wire [21:0] n2     = desc_i[`PTO_DMA_LOOP1_COUNT];
  wire [21:0] n3     = desc_i[`PTO_DMA_LOOP2_COUNT];
  wire [40:0] e0     = desc_i[`PTO_DMA_EXT_STRIDE];
  wire [40:0] e1     = desc_i[`PTO_DMA_LOOP0_EXT_STRIDE];
  wire [40:0] e2     = desc_i[`PTO_DMA_LOOP1_EXT_STRIDE];
  wire [40:0] e3     = desc_i[`PTO_DMA_LOOP2_EXT_STRIDE];
  wire [21:0] s0     = desc_i[`PTO_DMA_LOC_STRIDE];
  wire [21:0] s1     = desc_i[`PTO_DMA_LOOP0_LOC_STRIDE];
  wire [21:0] s2     = desc_i[`PTO_DMA_LOOP1_LOC_STRIDE];
  wire [21:0] s3     = desc_i[`PTO_DMA_LOOP2_LOC_STRIDE];
  // With at most two of each, the end of an op is a sum.
  wire        few    = n0 < 22'd3 && n1 < 22'd3 && n2 < 22'd3 && n3 < 22'd3;
  wire        nop    = len == 22'd0 || n0 == 22'd0 || n1 == 22'd0 || n2 == 22'd0 || n3 == 22'd0;
  wire [47:0] ext_end = {4'd0, ext} + {26'd0, len} + (n0[1] ? {7'd0, e0} : 48'd0)
                        + (n1[1] ? {7'd0, e1} : 48'd0) + (n2[1] ? {7'd0, e2} : 48'd0)
                        + (n3[1] ? {7'd0, e3} : 48'd0);
  wire [27:0] row    = load ? ({6'd0, len} + 28'd31) & ~28'd31 : {6'd0, len};
  wire [27:0] loc_end = {4'd0, loc} + row + (n0[1] ? {6'd0, s0} : 28'd0)
                        + (n1[1] ? {6'd0, s1} : 28'd0) + (n2[1] ? {6'd0, s2} : 28'd0)
                        + (n3[1] ? {6'd0, s3} : 28'd0);
  wire [27:0] loc_size = opcode == `PTO_OP_MTE_GM_L1 ? `PTO_SIZE_L1 : `PTO_SIZE_UB;
  wire        l05 = len[21:16] == 6'd0 && n0[21:16] == 6'd0 && !n1[21] && !n2[21] && !n3[21]
                    && !e0[40] && !e1[40] && !e2[40] && !e3[40] && !s0[21] && !s1[21] && !s2[21]
                    && !s3[21] && desc_i[`PTO_DMA_L2] < (load ? 5'd4 : 5'd16);
  wire        l07 = s0[4:0] == 5'd0 && s1[4:0] == 5'd0 && s2[4:0] == 5'd0 && s3[4:0] == 5'd0;
  wire        l08 = n0 < 22'd2 || (s0 >= len && e0 >= {19'd0, len});
  wire        l12 = few && (nop || (ext_end <= 48'd1 << 40 && loc_end <= loc_size));
  wire        plain = desc_i[`PTO_DMA_ATOMIC_TYPE] == 3'd0;

  always @* begin
    // ---- memories and drivers: R-*, B-*, DESC-*, SRC-UNASKED ----
    if (!rst_ni) assume(!m_axi_rvalid && !m_axi_bvalid && !desc_valid_i && !src_rvalid_i);
    if (rst_ni) begin
      assume(!m_axi_rvalid || reads != 6'd0);
      assume(!m_axi_rvalid || m_axi_rlast == (r_beats == lens[7:0]));
      assume(!m_axi_rvalid || (m_axi_rid == ar_first && m_axi_rresp != 2'd1));
      assume(!r_waits || (m_axi_rvalid && r == r_q));
      assume(!m_axi_bvalid || (aw_open != 6'd0 && w_open != 6'd0));
      assume(!m_axi_bvalid || (m_axi_bid == aw_first && m_axi_bresp != 2'd1));
      assume(!b_waits || (m_axi_bvalid && b == b_q));
      assume(!src_rvalid_i || src_owed != 6'd0);
      assume(!desc_waits || (desc_valid_i && desc == desc_q));
      assume(!desc_valid_i || open != Open);
      // What the manifest excludes.
      assume(!m_axi_rvalid || ReadErrors == 1 || !m_axi_rresp[1]);
      assume(!m_axi_bvalid || WriteErrors == 1 || !m_axi_bresp[1]);
      assume(LocalErrors == 1 || (!src_err_i && !dst_err_i));
      assume(!desc_valid_i || Ops[opcode]);
      // Of strided copies: loops that are not there count 1, with strides of 0.
      assume(!desc_valid_i || !nested || (loops <= Loops
             && (loops > 2'd0 || (n1 == 22'd1 && e1 == 41'd0 && s1 == 22'd0))
             && (loops > 2'd1 || (n2 == 22'd1 && e2 == 41'd0 && s2 == 22'd0))
             && (loops > 2'd2 || (n3 == 22'd1 && e3 == 41'd0 && s3 == 22'd0))));
      assume(!desc_valid_i || !copy || ((!Legal[5] || l05) && (!Legal[6] || loc[4:0] == 5'd0)
             && (!Legal[7] || l07) && (!Legal[8] || l08) && (!Legal[12] || l12)
             && (!Legal[9] || desc_i[`PTO_DMA_PAD_EN] == 2'd0) && (!Legal[17] || plain)));
      // A queue that is too long is found by AR-LIMIT, AW-LIMIT; what follows means nothing.
      assume(reads <= Most + 6'd1 && aw_open <= Most + 6'd1 && w_open < 6'd32);
`ifdef PTO_FIX
      assume(!par_rvalid_i || par_owed != 6'd0);
      assume(!flag_rvalid_i || flag_owed != 6'd0);
      assume(LocalErrors == 1 || !par_err_i);
`endif
    end

    // ---- the engine ----
    ar_reset: assert(rst_ni || !m_axi_arvalid);
    aw_reset: assert(rst_ni || !m_axi_awvalid);
    w_reset: assert(rst_ni || !m_axi_wvalid);
    done_reset: assert(rst_ni || !done_valid_o);
    src_reset: assert(rst_ni || !src_req_o);
    dst_reset: assert(rst_ni || !dst_req_o);
    if (rst_ni) begin
      ar_held: assert(!ar_waits || m_axi_arvalid);
      ar_stable: assert(!ar_waits || !m_axi_arvalid || ar == ar_q);
      ar_burst: assert(!ar_fire || m_axi_arburst == 2'd1);
      ar_size: assert(!ar_fire || m_axi_arsize == Size);
      ar_align: assert(!ar_fire || m_axi_araddr[Lane-1:0] == 0);
      ar_4k: assert(!ar_fire || !crosses(m_axi_araddr[11:0], m_axi_arlen));
      ar_id: assert(!ar_fire || !ar_known || m_axi_arid == ar_first);
      ar_limit: assert(reads <= Most);
      ar_over_write: assert(!ar_fire
                            || !((m_axi_awvalid && overlap(m_axi_araddr, m_axi_arlen, m_axi_awaddr,
                                                           m_axi_awlen))
                                 || (f_aw && !f_b && !f_resp
                                     && overlap(m_axi_araddr, m_axi_arlen, f_addr, f_len))));
      aw_held: assert(!aw_waits || m_axi_awvalid);
      aw_stable: assert(!aw_waits || !m_axi_awvalid || aw == aw_q);
      aw_burst: assert(!aw_fire || m_axi_awburst == 2'd1);
      aw_size: assert(!aw_fire || m_axi_awsize == Size);
      aw_align: assert(!aw_fire || m_axi_awaddr[Lane-1:0] == 0);
      aw_4k: assert(!aw_fire || !crosses(m_axi_awaddr[11:0], m_axi_awlen));
      aw_id: assert(!aw_fire || !aw_known || m_axi_awid == aw_first);
      aw_limit: assert(aw_open <= Most);
      w_held: assert(!w_waits || m_axi_wvalid);
      w_stable: assert(!w_waits || !m_axi_wvalid || w == w_q);
      w_last_early: assert(!(f_beat && m_axi_wlast && f_here && w_beats < {1'b0, f_most})
                           && !(f_now && f_w && f_beats < {1'b0, m_axi_awlen}));
      w_last_late: assert(!(f_beat && !m_axi_wlast
                            && (w_beats >= 9'd255 || (f_here && w_beats >= {1'b0, f_most})))
                          && !(f_now && f_w && f_beats > {1'b0, m_axi_awlen})
                          && !(f_now && !f_w && ws == pick && w_beats > {1'b0, m_axi_awlen}));
      done_held: assert(!done_waits || done_valid_o);
      done_stable: assert(!done_waits || !done_valid_o || done == done_q);
      done_order: assert(!(wrong && younger != 0));
      done_twice: assert(!(wrong && younger == 0 && earlier != 0));
      done_unknown_tag: assert(!(wrong && younger == 0 && earlier == 0));
      done_status: assert(!offer || done_status_o != 3'd7);
      done_rule: assert(!offer || done_status_o == 3'd1 || done_rule_o == 8'd0);
      done_addr: assert(!offer || done_status_o > 3'd1 || done_addr_o == 0);
      done_early_write: assert(!last || !(writes_open || (dst_req_o && !dst_gnt_i)));
      done_early_read: assert(!last || !(reads_open || src_req_o || src_owed != {5'd0, src_rvalid_i}));
      rule_traffic: assert(!(last && done_status_o == 3'd1 && alone && (moved || moves)));
      busy_low: assert(open == 4'd0 || busy_o);
      busy_high: assert(open != 4'd0 || !idle_seen || desc_valid_i || !busy_o);
      idle_traffic: assert(open != 4'd0 || desc_valid_i || !(moves || side_moves));
      src_held: assert(!src_waits || src_req_o);
      src_stable: assert(!src_waits || !src_req_o || src == src_q);
      src_align: assert(!src_fire || src_addr_o[$clog2(SrcDataWidth/8)-1:0] == 0);
      src_space: assert(!src_fire || src_space_o != 3'd0);
      src_outside: assert(!src_fire || src_space_o == 3'd0 || !outside(src_space_o, src_addr_o));
      dst_held: assert(!dst_waits || dst_req_o);
      dst_stable: assert(!dst_waits || !dst_req_o || dst == dst_q);
      dst_align: assert(!dst_fire || dst_addr_o[$clog2(LocalDataWidth/8)-1:0] == 0);
      dst_space: assert(!dst_fire || dst_space_o != 3'd0);
      dst_outside: assert(!dst_fire || dst_space_o == 3'd0 || !outside(dst_space_o, dst_addr_o));
      reach_descriptor: assert(!desc_fire);
      reach_ar: assert(!ar_fire);
      reach_r: assert(!r_fire);
      reach_aw: assert(!aw_fire);
      reach_w: assert(!w_fire);
      reach_b: assert(!b_fire);
      reach_src: assert(!src_fire);
      reach_dst: assert(!dst_fire);
      reach_done: assert(!(done_fire && done_status_o == 3'd0));
      reach_done_of_a_copy: assert(!(done_fire && done_status_o == 3'd0 && open == 4'd1 && alone && moved));
      reach_done_with_rule: assert(!(done_fire && done_status_o == 3'd1 && done_rule_o != 8'd0));
      reach_done_with_error: assert(!(done_fire && done_status_o > 3'd1));
      reach_two_descriptors: assert(open != 4'd2);
    end

`ifdef PTO_FIX
    par_reset: assert(rst_ni || !par_req_o);
    flag_reset: assert(rst_ni || !flag_req_o);
    if (rst_ni) begin
      done_early_par: assert(!last || !(par_req_o || par_left));
      done_early_flag: assert(!last || !((flag_req_o && !flag_clear_o) || flag_left));
      par_held: assert(!par_waits || par_req_o);
      par_stable: assert(!par_waits || !par_req_o || par == par_q);
      par_align: assert(!(par_req_o && par_gnt_i) || par_addr_o[$clog2(SrcDataWidth/8)-1:0] == 0);
      par_space: assert(!(par_req_o && par_gnt_i) || par_space_o == `PTO_SPACE_FB);
      par_outside: assert(!(par_req_o && par_gnt_i) || par_space_o != `PTO_SPACE_FB
                          || !outside(par_space_o, par_addr_o));
      flag_held: assert(!flag_waits || flag_req_o);
      flag_stable: assert(!flag_waits || !flag_req_o || flag == flag_q);
      flag_mask: assert(!flag_req_o || flag_mask_o != 32'd0);
      flag_at_done: assert(!(flag_req_o && flag_clear_o && done_valid_o));
      reach_par: assert(!(par_req_o && par_gnt_i));
      reach_flag: assert(!(flag_req_o && flag_gnt_i));
    end
`endif
  end
endmodule

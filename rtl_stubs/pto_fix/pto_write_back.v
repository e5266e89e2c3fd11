// SPDX-License-Identifier: Apache-2.0
//
// Unit of FIX for mte_l0c_gm, mte_l0c_l1 and mte_l0c_ub: accumulators from L0C, quantised, to GM,
// L1 or UB in the layouts of fixpipe.md. The front checks ops, waits for unit flags and fetches
// parameters, the path moves the data. Ports are those of an engine, and two more.
// Throughput: one L0C word, up to 16 elements, and one word of the destination per clock, with no
// bubble between rows, repeats or ops; the slower of the two counts. On 256-bit buses:
//   nz2nd          16 elements per clock to 4, 8 and 16-bit types, 8 to 32-bit ones; a row of n
//                  columns takes ceil(n / 16) clocks, or its bus words where those are more
//   nz2dn          the same once the first tile of 64 rows is in the transposer; with fewer rows
//                  m / ceil(m / 16) elements per clock at most
//   nz2nz split 0  8 (f32 only; 16 on a bus of 512 bits)
//   nz2nz split 1  8 on any bus of 256 bits or more, because each L0C word is read once per half
//   atomic         the same, also for a run that begins in the last bus word of the run before;
//                  other runs that share a bus word with a run less than a round trip before them
//                  take the round trip of a read and a write each
// A run is what is contiguous in memory: a row, a column (64 rows of it), a group, or all of a
// repeat where these follow each other. Each run, cut at 4 KiB, is one AXI burst; runs shorter
// than latency / NumOutstanding bus words are limited by the bursts in flight.
// Latency: of the front, then see pto_fix_path. Full rate for L0C latencies up to
// ReadFifoDepth - 6.
// Limits: GmDataWidth and LocalDataWidth 128, 256 or 512, SrcDataWidth 512, GmAddrWidth 40,
// LocalAddrWidth 20. Spec: CONTRACT, fixpipe.md, profiles.md.
//
//   clk         _/~\_/~\_/~\_/~\_/~\_
//   desc_valid  _/~~~\_______________     desc_ready 1
//   busy        _____/~~~~~~~~~~~~~~~     until the done handshake
`default_nettype none
`include "pto_desc.vh"

`define PTO_SRC_DATA_WIDTH SrcDataWidth
module pto_write_back #(
  parameter integer GmAddrWidth    = 40,     // bits of a GM byte address
  parameter integer GmDataWidth    = 256,    // bits of the AXI data bus
  parameter integer LocalAddrWidth = 20,     // bits of an on-chip byte address
  parameter integer LocalDataWidth = 256,    // bits of a destination word
  parameter integer SrcDataWidth   = 512,    // bits of a source word and of a parameter word
  parameter integer DescWidth      = 512,    // bits of a descriptor
  parameter integer TagWidth       = 8,      // bits of a tag
  parameter integer NumOutstanding = 16,     // AXI bursts in flight in each direction
  parameter integer AxiIdWidth     = 4,      // bits of the AXI ids, which are 0
  parameter integer UbSize         = `PTO_SIZE_UB,   // bytes of one UB sub-block
  parameter integer L1Size         = `PTO_SIZE_L1,   // bytes of L1
  parameter integer L0cSize        = `PTO_SIZE_L0C,  // bytes of L0C
  parameter integer FbSegmentSize  = `PTO_FB_SEGMENT_BYTES,  // bytes of a segment of FB
  parameter integer QueueDepth     = 4,      // descriptors queued before the check, a power of two
  parameter integer NumActive      = 8,      // ops after the check, a power of two
  parameter integer ReadFifoDepth  = 64,     // L0C words queued or in flight, a power of two
  parameter integer AlphaReplace   = 0,      // knob alpha: 0 sequential, 1 replace
  parameter integer B8ScalarUnsigned = 0,    // knob b8_scalar_sign: 0 type, 1 unsigned
  parameter integer SatScopeA5     = 0,      // knob sat_scope: 0 all, 1 a5
  parameter integer ModesA5        = 0       // knob modes, FIX-L20: 0 all, 1 a5
) (
  `include "pto_fix_ports.vh"
  `include "pto_engine_ports.vh"
);
`undef PTO_SRC_DATA_WIDTH
  localparam integer GmLane = $clog2(GmDataWidth / 8);

  // Parameters out of range name a module that does not exist, in every tool an error.
  generate
    if (GmDataWidth != 128 && GmDataWidth != 256 && GmDataWidth != 512) begin : gen_bad_gm
      pto_error_gm_data_width_must_be_128_256_512 u_error ();
    end
    if (LocalDataWidth != 128 && LocalDataWidth != 256 && LocalDataWidth != 512) begin : gen_bad_loc
      pto_error_local_data_width_must_be_128_256_512 u_error ();
    end
    if (AlphaReplace != 0 && AlphaReplace != 1) begin : gen_bad_alpha
      pto_error_alpha_replace_must_be_0_1 u_error ();
    end
    if (B8ScalarUnsigned < 0 || B8ScalarUnsigned > 1 || SatScopeA5 < 0 || SatScopeA5 > 1
        || ModesA5 < 0 || ModesA5 > 1) begin : gen_bad_knob
      pto_error_b8_scalar_unsigned_sat_scope_a5_modes_a5_must_be_0_1 u_error ();
    end
    if (SrcDataWidth != 512) begin : gen_bad_src
      pto_error_src_data_width_must_be_512 u_error ();
    end
    if (GmAddrWidth != `PTO_GM_ADDR_BITS || LocalAddrWidth != 20 || DescWidth != `PTO_DESC_BITS)
    begin : gen_bad_addr
      pto_error_address_or_descriptor_width u_error ();
    end
  endgenerate

  wire                   op_valid, op_ready, op_bank;
  wire [DescWidth-1:0]   op_desc;
  wire                   fin_valid, fin_ready;
  wire [2:0]             fin_status;
  wire [GmAddrWidth-1:0] fin_addr;
  wire                   prm_rd, prm_bank, prm_end;
  wire [7:0]             prm_group;
  wire [16*36-1:0]       prm_quant;
  wire [16*19-1:0]       prm_alpha;

  pto_fix_front #(
    .GmAddrWidth    (GmAddrWidth),
    .LocalAddrWidth (LocalAddrWidth),
    .SrcDataWidth   (SrcDataWidth),
    .DescWidth      (DescWidth),
    .TagWidth       (TagWidth),
    .UbSize         (UbSize),
    .L1Size         (L1Size),
    .L0cSize        (L0cSize),
    .FbSegmentSize  (FbSegmentSize),
    .QueueDepth     (QueueDepth),
    .NumActive      (NumActive),
    .B8ScalarUnsigned (B8ScalarUnsigned),
    .ModesA5        (ModesA5)
  ) u_front (
    .clk_i         (clk_i),
    .rst_ni        (rst_ni),
    .desc_valid_i  (desc_valid_i),
    .desc_ready_o  (desc_ready_o),
    .desc_i        (desc_i),
    .desc_tag_i    (desc_tag_i),
    .done_valid_o  (done_valid_o),
    .done_ready_i  (done_ready_i),
    .done_tag_o    (done_tag_o),
    .done_status_o (done_status_o),
    .done_rule_o   (done_rule_o),
    .done_addr_o   (done_addr_o),
    .busy_o        (busy_o),
    .par_req_o     (par_req_o),
    .par_gnt_i     (par_gnt_i),
    .par_space_o   (par_space_o),
    .par_addr_o    (par_addr_o),
    .par_rvalid_i  (par_rvalid_i),
    .par_rdata_i   (par_rdata_i),
    .par_err_i     (par_err_i),
    .flag_req_o    (flag_req_o),
    .flag_gnt_i    (flag_gnt_i),
    .flag_clear_o  (flag_clear_o),
    .flag_addr_o   (flag_addr_o),
    .flag_mask_o   (flag_mask_o),
    .flag_rvalid_i (flag_rvalid_i),
    .flag_rdata_i  (flag_rdata_i),
    .op_valid_o    (op_valid),
    .op_ready_i    (op_ready),
    .op_desc_o     (op_desc),
    .op_bank_o     (op_bank),
    .fin_valid_i   (fin_valid),
    .fin_ready_o   (fin_ready),
    .fin_status_i  (fin_status),
    .fin_addr_i    (fin_addr),
    .prm_rd_i      (prm_rd),
    .prm_bank_i    (prm_bank),
    .prm_group_i   (prm_group),
    .prm_end_i     (prm_end),
    .prm_quant_o   (prm_quant),
    .prm_alpha_o   (prm_alpha)
  );

  pto_fix_path #(
    .GmAddrWidth    (GmAddrWidth),
    .GmDataWidth    (GmDataWidth),
    .LocalAddrWidth (LocalAddrWidth),
    .LocalDataWidth (LocalDataWidth),
    .SrcDataWidth   (SrcDataWidth),
    .DescWidth      (DescWidth),
    .NumOutstanding (NumOutstanding),
    .NumActive      (NumActive),
    .ReadFifoDepth  (ReadFifoDepth),
    .AlphaReplace   (AlphaReplace),
    .SatScopeA5     (SatScopeA5)
  ) u_path (
    .clk_i         (clk_i),
    .rst_ni        (rst_ni),
    .op_valid_i    (op_valid),
    .op_ready_o    (op_ready),
    .op_desc_i     (op_desc),
    .op_bank_i     (op_bank),
    .fin_valid_o   (fin_valid),
    .fin_ready_i   (fin_ready),
    .fin_status_o  (fin_status),
    .fin_addr_o    (fin_addr),
    .prm_rd_o      (prm_rd),
    .prm_bank_o    (prm_bank),
    .prm_group_o   (prm_group),
    .prm_end_o     (prm_end),
    .prm_quant_i   (prm_quant),
    .prm_alpha_i   (prm_alpha),
    .src_req_o     (src_req_o),
    .src_gnt_i     (src_gnt_i),
    .src_space_o   (src_space_o),
    .src_addr_o    (src_addr_o),
    .src_rvalid_i  (src_rvalid_i),
    .src_rdata_i   (src_rdata_i),
    .src_err_i     (src_err_i),
    .dst_req_o     (dst_req_o),
    .dst_gnt_i     (dst_gnt_i),
    .dst_space_o   (dst_space_o),
    .dst_addr_o    (dst_addr_o),
    .dst_be_o      (dst_be_o),
    .dst_wdata_o   (dst_wdata_o),
    .dst_err_i     (dst_err_i),
    .m_axi_araddr  (m_axi_araddr),
    .m_axi_arlen   (m_axi_arlen),
    .m_axi_arvalid (m_axi_arvalid),
    .m_axi_arready (m_axi_arready),
    .m_axi_rdata   (m_axi_rdata),
    .m_axi_rresp   (m_axi_rresp),
    .m_axi_rlast   (m_axi_rlast),
    .m_axi_rvalid  (m_axi_rvalid),
    .m_axi_rready  (m_axi_rready),
    .m_axi_awaddr  (m_axi_awaddr),
    .m_axi_awlen   (m_axi_awlen),
    .m_axi_awvalid (m_axi_awvalid),
    .m_axi_awready (m_axi_awready),
    .m_axi_wdata   (m_axi_wdata),
    .m_axi_wstrb   (m_axi_wstrb),
    .m_axi_wlast   (m_axi_wlast),
    .m_axi_wvalid  (m_axi_wvalid),
    .m_axi_wready  (m_axi_wready),
    .m_axi_bresp   (m_axi_bresp),
    .m_axi_bvalid  (m_axi_bvalid),
    .m_axi_bready  (m_axi_bready)
  );

  assign m_axi_arid    = {AxiIdWidth{1'b0}};
  assign m_axi_arsize  = GmLane[2:0];
  assign m_axi_arburst = 2'b01;
  assign m_axi_awid    = {AxiIdWidth{1'b0}};
  assign m_axi_awsize  = GmLane[2:0];
  assign m_axi_awburst = 2'b01;

  wire unused = &{1'b0, m_axi_rid, m_axi_bid};
endmodule

`default_nettype wire

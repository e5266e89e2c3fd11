// SPDX-License-Identifier: Apache-2.0
//
// Unit for copies from L1 to UB: mte_l1_ub, bursts of 32-byte blocks with gaps in up to three
// loops of byte strides (A-12). Each burst is a row. Ports are those of an engine. Rows flow loops
// -> local reads -> realigner -> words; the check of the next op overlaps the data.
// Throughput: one L1 word and one UB word per clock. A row that lies in k source and n destination
// words takes max(k, n) clocks and the next follows without a bubble, also from op to op.
// Latency: descriptor to src_req 7 clocks when the check needs one clock (pto_dma_check), reply
// to dst_req 3 clocks, last grant to done 1 clock. Full rate up to a read latency of
// ReadFifoDepth - 3 clocks. A read or write error ends the op: no access is requested from that
// clock on, but a pending request waits for its grant.
// Limits: width 128, 256 or 512; GmAddrWidth 40. Spec: CONTRACT, dma.md 2 and 5.
//
//   clk         _/~\_/~\_/~\_/~\_/~\_/~\_/~\_/~\_
//   desc_valid  _/~~~\___________________________     desc_ready 1
//   src_req     _____________________________/~~~     until src_gnt
`default_nettype none
`include "pto_desc.vh"

module pto_local_copy #(
  parameter integer GmAddrWidth    = 40,     // bits of a GM byte address, here only of reports
  parameter integer GmDataWidth    = 256,    // bits of the AXI data bus, not used
  parameter integer LocalAddrWidth = 20,     // bits of an on-chip byte address
  parameter integer LocalDataWidth = 256,    // bits of an on-chip word
  parameter integer DescWidth      = 512,    // bits of a descriptor
  parameter integer TagWidth       = 8,      // bits of a tag
  parameter integer NumOutstanding = 16,     // AXI bursts in flight, not used
  parameter integer AxiIdWidth     = 4,      // bits of the AXI ids
  parameter integer UbSize         = `PTO_SIZE_UB,  // bytes of one UB sub-block
  parameter integer L1Size         = `PTO_SIZE_L1,  // bytes of L1
  parameter integer QueueDepth     = 4,      // descriptors queued before the check, a power of two
  parameter integer NumActive      = 16,     // ops in flight after the check, a power of two
  parameter integer ReadFifoDepth  = 64      // source words and rows in flight, a power of two
) (
  `include "pto_engine_ports.vh"
);
  localparam integer IdWidth = $clog2(NumActive);

  // Parameters out of range name a module that does not exist, in every tool an error.
  generate
    if (LocalDataWidth != 128 && LocalDataWidth != 256 && LocalDataWidth != 512) begin : gen_bad_loc
      pto_error_local_data_width_must_be_128_256_512 u_error ();
    end
    if (GmAddrWidth != `PTO_GM_ADDR_BITS || LocalAddrWidth > 20 || DescWidth != `PTO_DESC_BITS
        || UbSize > (1 << LocalAddrWidth) || L1Size > (1 << LocalAddrWidth)) begin : gen_bad_addr
      pto_error_address_or_descriptor_width u_error ();
    end
  endgenerate

  // ---- front: descriptors to rows, and reports; the ext side of this op is L1 ----
  wire                      row_valid, row_ready, row_end, row_last;
  wire [IdWidth-1:0]        row_id;
  wire [GmAddrWidth-1:0]    row_ext_addr;
  wire [LocalAddrWidth-1:0] row_loc_addr;
  wire [2:0]                row_space;
  wire [19:0]               row_len;
  wire [5:0]                row_left_unused;
  wire [LocalAddrWidth:0]   row_foot_unused;
  wire [31:0]               row_pattern_unused;
  wire                      row_fill_unused;
  wire [1:0]                row_elem_unused;
  wire [NumActive-1:0]      err;
  wire                      rd_err_valid, wr_err_valid, fin_valid;
  wire [IdWidth-1:0]        rd_err_id, fin_id;
  wire [LocalAddrWidth-1:0] rd_err_addr;

  wire [3*NumActive-1:0]    atomic_type_unused;  // only stores to GM have them
  wire [2*NumActive-1:0]    atomic_op_unused;
  wire [NumActive-1:0]      nosat_unused;

  pto_dma_front #(
    .Ops            (256'd1 << `PTO_OP_MTE_L1_UB),
    .UbSize         (UbSize),
    .L1Size         (L1Size),
    .LocalAddrWidth (LocalAddrWidth),
    .GmAddrWidth    (GmAddrWidth),
    .DescWidth      (DescWidth),
    .TagWidth       (TagWidth),
    .QueueDepth     (QueueDepth),
    .NumActive      (NumActive),
    .IdWidth        (IdWidth)
  ) u_front (
    .clk_i          (clk_i),
    .rst_ni         (rst_ni),
    .desc_valid_i   (desc_valid_i),
    .desc_ready_o   (desc_ready_o),
    .desc_i         (desc_i),
    .desc_tag_i     (desc_tag_i),
    .done_valid_o   (done_valid_o),
    .done_ready_i   (done_ready_i),
    .done_tag_o     (done_tag_o),
    .done_status_o  (done_status_o),
    .done_rule_o    (done_rule_o),
    .done_addr_o    (done_addr_o),
    .busy_o         (busy_o),
    .err_a_valid_i  (rd_err_valid),
    .err_a_id_i     (rd_err_id),
    .err_a_status_i (`PTO_ST_LOCAL),
    .err_a_addr_i   ({{(GmAddrWidth - LocalAddrWidth){1'b0}}, rd_err_addr}),
    .err_b_valid_i  (wr_err_valid),
    .err_b_id_i     (fin_id),
    .err_b_status_i (`PTO_ST_LOCAL),
    .err_b_addr_i   ({{(GmAddrWidth - LocalAddrWidth){1'b0}}, dst_addr_o}),
    .err_c_valid_i  (1'b0),
    .err_c_id_i     ({IdWidth{1'b0}}),
    .err_c_status_i (3'd0),
    .err_c_addr_i   ({GmAddrWidth{1'b0}}),
    .err_o          (err),
    .atomic_type_o  (atomic_type_unused),
    .atomic_op_o    (atomic_op_unused),
    .nosat_o        (nosat_unused),
    .fin_valid_i    (fin_valid),
    .fin_id_i       (fin_id),
    .row_valid_o    (row_valid),
    .row_ready_i    (row_ready),
    .row_end_o      (row_end),
    .row_last_o     (row_last),
    .row_id_o       (row_id),
    .row_ext_addr_o (row_ext_addr),
    .row_loc_addr_o (row_loc_addr),
    .row_space_o    (row_space),
    .row_len_o      (row_len),
    .row_left_o     (row_left_unused),
    .row_foot_o     (row_foot_unused),
    .row_pattern_o  (row_pattern_unused),
    .row_fill_o     (row_fill_unused),
    .row_elem_o     (row_elem_unused)
  );

  // ---- data ----
  pto_copy_path #(
    .LocalAddrWidth (LocalAddrWidth),
    .SrcDataWidth   (LocalDataWidth),
    .DstDataWidth   (LocalDataWidth),
    .NumActive      (NumActive),
    .IdWidth        (IdWidth),
    .ReadFifoDepth  (ReadFifoDepth),
    .LenWidth       (20)
  ) u_path (
    .clk_i           (clk_i),
    .rst_ni          (rst_ni),
    .err_i           (err),
    .row_valid_i     (row_valid),
    .row_ready_o     (row_ready),
    .row_end_i       (row_end),
    .row_last_i      (row_last),
    .row_id_i        (row_id),
    .row_src_space_i (`PTO_SPACE_L1),
    .row_src_addr_i  (row_ext_addr[LocalAddrWidth-1:0]),
    .row_dst_space_i (row_space),
    .row_dst_addr_i  (row_loc_addr),
    .row_len_i       (row_len),
    .src_req_o       (src_req_o),
    .src_gnt_i       (src_gnt_i),
    .src_space_o     (src_space_o),
    .src_addr_o      (src_addr_o),
    .src_rvalid_i    (src_rvalid_i),
    .src_rdata_i     (src_rdata_i),
    .src_err_i       (src_err_i),
    .dst_req_o       (dst_req_o),
    .dst_gnt_i       (dst_gnt_i),
    .dst_space_o     (dst_space_o),
    .dst_addr_o      (dst_addr_o),
    .dst_be_o        (dst_be_o),
    .dst_wdata_o     (dst_wdata_o),
    .dst_err_i       (dst_err_i),
    .rd_err_valid_o  (rd_err_valid),
    .rd_err_id_o     (rd_err_id),
    .rd_err_addr_o   (rd_err_addr),
    .wr_err_valid_o  (wr_err_valid),
    .fin_valid_o     (fin_valid),
    .fin_id_o        (fin_id)
  );

  `include "pto_no_gm.vh"

  wire unused = &{1'b0, atomic_type_unused, atomic_op_unused, nosat_unused,
                  row_ext_addr[GmAddrWidth-1:LocalAddrWidth], row_left_unused,
                  row_foot_unused, row_pattern_unused, row_fill_unused, row_elem_unused};
endmodule

`default_nettype wire

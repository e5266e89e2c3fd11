// SPDX-License-Identifier: Apache-2.0
// A minimal engine of slot fix with its ports par and flag, that can be told by a field of its
// descriptor to wait or to read wrongly. It does what an op asks for one thing after the other: wait for unit flags, copy parameters from FB and words from L0C to UB sub-block 1 (a
// word of 512 bits and its writes, then the next), add 1 to each byte of one GM beat some times,
// clear the flags, done.
// Descriptor: opcode and unit_flag where the write-back ops have them; [15:8] fault; [19:16] words
// of parameters, [23:20] words of L0C, [27:24] times of the beat; [47:28] FB, [67:48] L0C, [87:68]
// UB address; [127:88] address of the beat; [131:128] flag word, [192:161] flag mask; of a read
// at the wrong time [143:132] signed distance to the beat, in beats, and [151:144] beats less 1.
// The address of a good done is the number of flag reads that the op made.
`default_nettype none
`timescale 1ns / 1ps

`define PTO_SRC_DATA_WIDTH SrcDataWidth
module flag_dma #(
    parameter GmAddrWidth = 40,
    parameter GmDataWidth = 256,
    parameter LocalAddrWidth = 20,
    parameter LocalDataWidth = 256,
    parameter SrcDataWidth = 512,
    parameter DescWidth = 512,
    parameter TagWidth = 8,
    parameter NumOutstanding = 16,
    parameter AxiIdWidth = 4
) (
    `include "pto_fix_ports.vh"
    `include "pto_engine_ports.vh"
);
`undef PTO_SRC_DATA_WIDTH
  localparam Slices = SrcDataWidth / LocalDataWidth;  // destination words in a source word
  localparam Bytes = GmDataWidth / 8;
  localparam [2:0] UB1 = 3'd2, L0C = 3'd4, FB = 3'd6;
  localparam [3:0] IDLE = 4'd0, POLL = 4'd1, ANSWER = 4'd2, PAR = 4'd3, PAR_DATA = 4'd4,
      SRC = 4'd5, SRC_DATA = 4'd6, STORE = 4'd7, READ = 4'd8, READ_DATA = 4'd9, WRITE = 4'd10,
      RESPONSE = 4'd11, CLEAR = 4'd12, DONE = 4'd13, START = 4'd14, GO_ON = 4'd15;

  // Faults; the test has the same list.
  localparam IGNORES_FLAGS = 1, JUNK_FLAGS = 2, CLEARS_FIRST = 3, CLEARS_EARLY = 4, FLAG_OPEN = 5,
      PAR_OPEN = 6, AR_BEFORE_B = 7;

  reg [7:0] fault;
  reg [3:0] state_q;
  reg [TagWidth-1:0] tag_q;
  reg [2:0] mode_q;                 // unit_flag
  reg [3:0] par_left_q, src_left_q, times_q, slice_q;
  reg [LocalAddrWidth-1:0] fb_q, l0c_q, ub_q;
  reg [GmAddrWidth-1:0] gm_q, polls_q, bad_q;
  reg [3:0] word_q;
  reg [11:0] wrong_beat_q;
  reg [7:0] wrong_len_q;
  reg [31:0] mask_q;
  reg [SrcDataWidth-1:0] data_q;
  reg [GmDataWidth-1:0] beat_q;
  reg aw_q, w_q;                    // address and data of the beat are still to be taken
  reg cleared_q, error_q;
  reg again_q;                      // a wrong read was taken

  assign desc_ready_o = state_q == IDLE && rst_ni;
  assign busy_o = state_q != IDLE;
  assign done_valid_o = state_q == DONE;
  assign done_tag_o = tag_q;
  // The number of polls is not an address, but uses the address of errors.
  assign done_status_o = error_q || polls_q != 0 ? 3'd6 : 3'd0;
  assign done_rule_o = 8'd0;
  assign done_addr_o = error_q ? bad_q : polls_q;

  assign flag_req_o = state_q == POLL || state_q == CLEAR;
  assign flag_clear_o = state_q == CLEAR;
  assign flag_addr_o = word_q;
  assign flag_mask_o = mask_q;

  assign par_req_o = state_q == PAR;
  assign par_space_o = FB;
  assign par_addr_o = fb_q;

  assign src_req_o = state_q == SRC;
  assign src_space_o = L0C;
  assign src_addr_o = l0c_q;
  assign dst_req_o = state_q == STORE;
  assign dst_space_o = UB1;
  assign dst_addr_o = ub_q;
  assign dst_be_o = {LocalDataWidth / 8{1'b1}};
  assign dst_wdata_o = data_q[slice_q*LocalDataWidth+:LocalDataWidth];

  // AR_BEFORE_B reads again while the response is out.
  assign m_axi_arid = {AxiIdWidth{1'b0}};
  assign m_axi_araddr = state_q == READ ? gm_q :
      gm_q + {{GmAddrWidth - 12{wrong_beat_q[11]}}, wrong_beat_q} * Bytes;
  assign m_axi_arlen = state_q == READ ? 8'd0 : wrong_len_q;
  assign m_axi_arsize = $clog2(Bytes);
  assign m_axi_arburst = 2'd1;
  assign m_axi_arvalid = state_q == READ ||
      (state_q == RESPONSE && fault == AR_BEFORE_B && !again_q);
  assign m_axi_rready = 1'b1;
  assign m_axi_awid = {AxiIdWidth{1'b0}};
  assign m_axi_awaddr = gm_q;
  assign m_axi_awlen = 8'd0;
  assign m_axi_awsize = $clog2(Bytes);
  assign m_axi_awburst = 2'd1;
  assign m_axi_awvalid = state_q == WRITE && aw_q;
  assign m_axi_wdata = beat_q;
  assign m_axi_wstrb = {Bytes{1'b1}};
  assign m_axi_wlast = 1'b1;
  assign m_axi_wvalid = state_q == WRITE && w_q;
  assign m_axi_bready = 1'b1;

  // What comes after a part of the op: the first part that is left.
  wire clears = mode_q == 3'd3;
  wire early = (fault == CLEARS_FIRST || (fault == CLEARS_EARLY && src_left_q == 4'd0)) && !cleared_q;
  wire [3:0] next = clears && early ? CLEAR : par_left_q != 4'd0 ? PAR : src_left_q != 4'd0 ? SRC :
      times_q != 4'd0 ? READ : clears && !cleared_q ? CLEAR : DONE;

  integer lane;

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= IDLE;
      slice_q <= 4'd0;
    end else begin
      case (state_q)
        IDLE: begin
          if (desc_valid_i) begin
            fault <= desc_i[15:8];
            par_left_q <= desc_i[19:16];
            src_left_q <= desc_i[23:20];
            times_q <= desc_i[27:24];
            fb_q <= desc_i[47:28];
            l0c_q <= desc_i[67:48];
            ub_q <= desc_i[87:68];
            gm_q <= desc_i[127:88];
            word_q <= desc_i[131:128];
            wrong_beat_q <= desc_i[143:132];
            wrong_len_q <= desc_i[151:144];
            mask_q <= desc_i[192:161];
            mode_q <= desc_i[160:158];
            tag_q <= desc_tag_i;
            cleared_q <= 1'b0;
            error_q <= 1'b0;
            polls_q <= {GmAddrWidth{1'b0}};
            again_q <= 1'b0;
            state_q <= START;
          end
        end
        START: state_q <= mode_q >= 3'd2 && fault != IGNORES_FLAGS ? POLL : next;
        POLL: begin
          if (flag_req_o && flag_gnt_i) begin
            polls_q <= polls_q + 1'b1;
            state_q <= fault == FLAG_OPEN ? DONE : ANSWER;
          end
        end
        ANSWER: begin
          if (flag_rvalid_i || fault == JUNK_FLAGS)
            state_q <= (flag_rdata_i & mask_q) == mask_q ? next : POLL;
        end
        PAR: if (par_req_o && par_gnt_i) state_q <= fault == PAR_OPEN ? DONE : PAR_DATA;
        PAR_DATA: begin
          if (par_rvalid_i) begin
            data_q <= par_rdata_i;
            par_left_q <= par_left_q - 4'd1;
            fb_q <= fb_q + 64;
            if (par_err_i && !error_q) bad_q <= {{GmAddrWidth - LocalAddrWidth{1'b0}}, fb_q};
            error_q <= error_q || par_err_i;
            state_q <= STORE;
          end
        end
        SRC: if (src_gnt_i) state_q <= SRC_DATA;
        SRC_DATA: begin
          if (src_rvalid_i) begin
            data_q <= src_rdata_i;
            src_left_q <= src_left_q - 4'd1;
            l0c_q <= l0c_q + 64;
            state_q <= STORE;
          end
        end
        STORE: begin
          if (dst_gnt_i) begin
            ub_q <= ub_q + LocalDataWidth / 8;
            slice_q <= slice_q + 4'd1;
            if (slice_q == Slices - 1) begin
              slice_q <= 4'd0;
              state_q <= next;
            end
          end
        end
        READ: if (m_axi_arready) state_q <= READ_DATA;
        READ_DATA: begin
          if (m_axi_rvalid) begin
            for (lane = 0; lane < Bytes; lane = lane + 1)
              beat_q[8*lane+:8] <= m_axi_rdata[8*lane+:8] + 8'd1;
            times_q <= times_q - 4'd1;
            aw_q <= 1'b1;
            w_q <= 1'b1;
            state_q <= WRITE;
          end
        end
        WRITE: begin
          if (m_axi_awready) aw_q <= 1'b0;
          if (m_axi_wready) w_q <= 1'b0;
          if ((!aw_q || m_axi_awready) && (!w_q || m_axi_wready)) state_q <= RESPONSE;
        end
        RESPONSE: begin
          if (m_axi_arvalid && m_axi_arready) again_q <= 1'b1;
          if (m_axi_bvalid) state_q <= next;
        end
        CLEAR: begin
          if (flag_req_o && flag_gnt_i) begin
            cleared_q <= 1'b1;
            state_q <= GO_ON;
          end
        end
        GO_ON: state_q <= next;
        default: if (done_ready_i) state_q <= IDLE;
      endcase
    end
  end
endmodule

`default_nettype wire

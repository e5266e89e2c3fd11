// SPDX-License-Identifier: Apache-2.0
//
// sdma_s2mm - stream-to-memory DMA: AXI4-Stream packet to AXI4 write manager
//
// Each descriptor takes one stream packet, which starts at byte lane 0 and has
// exactly the descriptor's length. Write responses may return in any order if
// their bid is right. See README.md.

module sdma_s2mm #(
  parameter ADDR_WIDTH      = 40,
  parameter DATA_WIDTH      = 64,    // 32, 64, 128, 256, 512 or 1024
  parameter ID_WIDTH        = 8,
  parameter LEN_WIDTH       = 20,    // 12 or more
  parameter TAG_WIDTH       = 8,
  parameter MAX_BURST_BEATS = 16     // 1..256
) (
  input  wire                    clk,
  input  wire                    rst,             // synchronous, active high

  // descriptors
  input  wire [ADDR_WIDTH-1:0]   s_desc_addr,
  input  wire [LEN_WIDTH-1:0]    s_desc_len,      // bytes, not 0
  input  wire [TAG_WIDTH-1:0]    s_desc_tag,
  input  wire                    s_desc_valid,
  output reg                     s_desc_ready,

  // status, a one-clock pulse per descriptor
  output reg  [TAG_WIDTH-1:0]    m_status_tag,
  output reg  [1:0]              m_status_error,
  output reg                     m_status_valid,

  // packet in
  input  wire [DATA_WIDTH-1:0]   s_axis_tdata,
  input  wire [DATA_WIDTH/8-1:0] s_axis_tkeep,
  input  wire                    s_axis_tlast,
  input  wire                    s_axis_tvalid,
  output wire                    s_axis_tready,

  // AXI4 write manager
  output reg  [ID_WIDTH-1:0]     m_axi_awid,
  output reg  [ADDR_WIDTH-1:0]   m_axi_awaddr,
  output reg  [7:0]              m_axi_awlen,
  output wire [2:0]              m_axi_awsize,
  output wire [1:0]              m_axi_awburst,
  output reg                     m_axi_awvalid,
  input  wire                    m_axi_awready,
  output reg  [DATA_WIDTH-1:0]   m_axi_wdata,
  output reg  [DATA_WIDTH/8-1:0] m_axi_wstrb,
  output reg                     m_axi_wlast,
  output reg                     m_axi_wvalid,
  input  wire                    m_axi_wready,
  input  wire [ID_WIDTH-1:0]     m_axi_bid,
  input  wire [1:0]              m_axi_bresp,
  input  wire                    m_axi_bvalid,
  output reg                     m_axi_bready
);

  function integer clog2(input integer value);
    integer v;
    begin
      clog2 = 0;
      for (v = value - 1; v > 0; v = v >> 1) clog2 = clog2 + 1;
    end
  endfunction

  localparam BYTES  = DATA_WIDTH / 8;
  localparam LB     = clog2(BYTES);          // width of a byte lane number
  localparam CW     = LEN_WIDTH + 1;         // width of a beat or byte count
  localparam MAX_M1 = MAX_BURST_BEATS - 1;
  localparam SB     = (ID_WIDTH < 3) ? ID_WIDTH : 3;
  localparam SLOTS  = 1 << SB;               // bursts outstanding

  assign m_axi_awsize  = LB[2:0];
  assign m_axi_awburst = 2'b01;              // INCR

  // the descriptor's length alone ends a packet; bid above the slot is ignored
  wire unused = &{1'b0, s_axis_tkeep, s_axis_tlast, m_axi_bid, m_axi_bresp[0]};

  // --------------------------------------------------------------------------
  // Burst slots: a ring with one entry per burst in flight. A slot is filled
  // when the burst is issued, read when its data is sent, and freed when its
  // response has been seen. The low bits of awid are the slot number.
  // --------------------------------------------------------------------------
  reg  [8+3+2*LB-1:0]  slot_w [0:SLOTS-1];   // length, flags, lanes
  reg  [TAG_WIDTH:0]   slot_b [0:SLOTS-1];   // final burst of packet, tag
  reg  [1:0]           slot_resp [0:SLOTS-1];
  reg  [SLOTS-1:0]     slot_done;
  reg  [SB:0]          issue_ptr, data_ptr, resp_ptr;
  wire                 slot_free = (issue_ptr != {~resp_ptr[SB], resp_ptr[SB-1:0]});

  // --------------------------------------------------------------------------
  // Burst splitter: up to one burst per clock into the AW register.
  // Beat and byte counts are kept "minus one".
  // --------------------------------------------------------------------------
  reg                   busy;
  reg  [ADDR_WIDTH-1:0] next_addr;
  reg  [CW-1:0]         left;                // beats still to request
  reg  [ID_WIDTH-1:0]   next_id;
  reg                   head;                // next burst is the first
  reg                   flush;               // more beats out than in
  reg  [LB-1:0]         offset, end_lane;    // lanes of the first and last byte
  reg  [TAG_WIDTH-1:0]  tag;

  wire                  desc_take  = s_desc_valid && s_desc_ready;
  wire [LB-1:0]         desc_off   = s_desc_addr[LB-1:0];
  wire [LEN_WIDTH-1:0]  desc_len   = s_desc_len - 1'b1;
  wire [CW-1:0]         desc_span  = {1'b0, desc_len} + {{(CW-LB){1'b0}}, desc_off};

  wire [11-LB:0]        page_room  = ~next_addr[11:LB];     // beats to 4 KiB
  wire [11:0]           room       = {{LB{1'b0}}, page_room};
  wire [11:0]           cap        = (room <= MAX_M1[11:0]) ? room : MAX_M1[11:0];
  wire                  tail       = (left <= {{(CW-12){1'b0}}, cap});
  wire [7:0]            burst_len  = tail ? left[7:0] : cap[7:0];
  wire [11:0]           burst_beats = {4'd0, burst_len} + 12'd1;
  wire                  issue      = busy && slot_free && (!m_axi_awvalid || m_axi_awready);

  always @(posedge clk) begin
    s_desc_ready <= !busy && !desc_take;

    if (desc_take) begin
      busy      <= 1'b1;
      next_addr <= s_desc_addr;
      left      <= desc_span >> LB;
      head      <= 1'b1;
      flush     <= ({1'b0, desc_len[LB-1:0]} + {1'b0, desc_off}) >= BYTES[LB:0];
      offset    <= desc_off;
      end_lane  <= desc_span[LB-1:0];
      tag       <= s_desc_tag;
    end

    if (issue) begin
      m_axi_awid    <= next_id;
      m_axi_awaddr  <= next_addr;
      m_axi_awlen   <= burst_len;
      m_axi_awvalid <= 1'b1;
      slot_w[issue_ptr[SB-1:0]] <=
        {burst_len, head, tail, flush, offset, end_lane};
      slot_b[issue_ptr[SB-1:0]] <= {tail, tag};
      issue_ptr     <= issue_ptr + 1'b1;
      next_id       <= next_id + 1'b1;
      next_addr     <= {next_addr[ADDR_WIDTH-1:LB] + {{(ADDR_WIDTH-LB-12){1'b0}}, burst_beats},
                        {LB{1'b0}}};
      left          <= left - {{(CW-12){1'b0}}, burst_beats};
      head          <= 1'b0;
      busy          <= !tail;
    end else if (m_axi_awready) begin
      m_axi_awvalid <= 1'b0;
    end

    if (rst) begin
      s_desc_ready  <= 1'b0;
      busy          <= 1'b0;
      m_axi_awvalid <= 1'b0;
      next_id       <= {ID_WIDTH{1'b0}};
      issue_ptr     <= {(SB+1){1'b0}};
    end
  end

  // --------------------------------------------------------------------------
  // Realigner: each beat out is joined from the new beat in and the former one
  // --------------------------------------------------------------------------
  reg  [DATA_WIDTH-1:0] hold;
  reg  [7:0]            beat;                // beats sent of the burst
  reg                   spare_valid;         // W buffer full

  wire [7:0]            d_len;
  wire                  d_head, d_tail, d_flush;
  wire [LB-1:0]         d_off, d_end;
  assign {d_len, d_head, d_tail, d_flush, d_off, d_end} = slot_w[data_ptr[SB-1:0]];

  wire                  ready = (data_ptr != issue_ptr) && !spare_valid;
  wire                  wlast = (beat == d_len);
  wire                  first = d_head && (beat == 8'd0);
  wire                  last  = d_tail && wlast;
  wire                  drain = last && d_flush;            // needs no input
  wire                  emit  = ready && (drain || s_axis_tvalid);

  wire [DATA_WIDTH-1:0] upper = drain ? {DATA_WIDTH{1'b0}} : s_axis_tdata;
  wire [DATA_WIDTH-1:0] lower = first ? {DATA_WIDTH{1'b0}} : hold;
  wire [LB+3:0]         shift = {1'b0, d_off, 3'b000};
  wire [DATA_WIDTH-1:0] data  = (upper << shift) | (lower >> (DATA_WIDTH[LB+3:0] - shift));
  wire [BYTES-1:0]      ones  = {BYTES{1'b1}};
  wire [BYTES-1:0]      strb  = (first ? ones << d_off  : ones) &
                                (last  ? ones >> ~d_end : ones);

  assign s_axis_tready = ready && !drain;

  // The W registers and one spare entry after them, so that wready does not
  // reach tready combinationally
  reg  [DATA_WIDTH+BYTES:0] spare;
  wire [DATA_WIDTH+BYTES:0] fresh = {data, strb, wlast};

  always @(posedge clk) begin
    if (emit) begin
      hold <= s_axis_tdata;
      beat <= wlast ? 8'd0 : beat + 8'd1;
      if (wlast) data_ptr <= data_ptr + 1'b1;
    end

    if (!m_axi_wvalid || m_axi_wready) begin
      {m_axi_wdata, m_axi_wstrb, m_axi_wlast} <= spare_valid ? spare : fresh;
      m_axi_wvalid <= spare_valid || emit;
      spare_valid  <= 1'b0;
    end else if (emit) begin
      spare       <= fresh;
      spare_valid <= 1'b1;
    end

    if (rst) begin
      data_ptr     <= {(SB+1){1'b0}};
      beat         <= 8'd0;
      m_axi_wvalid <= 1'b0;
      spare_valid  <= 1'b0;
    end
  end

  // --------------------------------------------------------------------------
  // Responses: noted by slot, retired in order of issue
  // --------------------------------------------------------------------------
  reg  [1:0]           err;                  // of the packet's earlier bursts

  wire                 b_tail;
  wire [TAG_WIDTH-1:0] b_tag;
  assign {b_tail, b_tag} = slot_b[resp_ptr[SB-1:0]];

  wire                 retire = slot_done[resp_ptr[SB-1:0]];
  wire [1:0]           error  = (err != 2'b00) ? err : slot_resp[resp_ptr[SB-1:0]];

  always @(posedge clk) begin
    m_axi_bready   <= 1'b1;
    m_status_tag   <= b_tag;
    m_status_error <= error;
    m_status_valid <= retire && b_tail;

    if (m_axi_bvalid && m_axi_bready) begin
      slot_done[m_axi_bid[SB-1:0]] <= 1'b1;
      slot_resp[m_axi_bid[SB-1:0]] <= m_axi_bresp[1] ? m_axi_bresp : 2'b00;
    end
    if (retire) begin
      slot_done[resp_ptr[SB-1:0]] <= 1'b0;
      resp_ptr <= resp_ptr + 1'b1;
      err      <= b_tail ? 2'b00 : error;
    end

    if (rst) begin
      m_axi_bready   <= 1'b0;
      m_status_valid <= 1'b0;
      slot_done      <= {SLOTS{1'b0}};
      resp_ptr       <= {(SB+1){1'b0}};
      err            <= 2'b00;
    end
  end

endmodule

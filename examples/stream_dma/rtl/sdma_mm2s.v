// SPDX-License-Identifier: Apache-2.0
//
// sdma_mm2s - memory-to-stream DMA: AXI4 read manager to AXI4-Stream packet
//
// Each descriptor gives one stream packet, starting at byte lane 0. Read data
// must return in the order in which the bursts were issued. See README.md.

module sdma_mm2s #(
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

  // AXI4 read manager
  output reg  [ID_WIDTH-1:0]     m_axi_arid,
  output reg  [ADDR_WIDTH-1:0]   m_axi_araddr,
  output reg  [7:0]              m_axi_arlen,
  output wire [2:0]              m_axi_arsize,
  output wire [1:0]              m_axi_arburst,
  output reg                     m_axi_arvalid,
  input  wire                    m_axi_arready,
  input  wire [ID_WIDTH-1:0]     m_axi_rid,
  input  wire [DATA_WIDTH-1:0]   m_axi_rdata,
  input  wire [1:0]              m_axi_rresp,
  input  wire                    m_axi_rlast,
  input  wire                    m_axi_rvalid,
  output wire                    m_axi_rready,

  // packet out
  output reg  [DATA_WIDTH-1:0]   m_axis_tdata,
  output reg  [DATA_WIDTH/8-1:0] m_axis_tkeep,
  output reg                     m_axis_tlast,
  output reg                     m_axis_tvalid,
  input  wire                    m_axis_tready
);

  function integer clog2(input integer value);
    integer v;
    begin
      clog2 = 0;
      for (v = value - 1; v > 0; v = v >> 1) clog2 = clog2 + 1;
    end
  endfunction

  localparam BYTES = DATA_WIDTH / 8;
  localparam LB    = clog2(BYTES);           // width of a byte lane number
  localparam CW    = LEN_WIDTH + 1;          // width of a beat or byte count
  localparam MAX_M1          = MAX_BURST_BEATS - 1;
  localparam MAX_OUTSTANDING = 4'd8;         // bursts

  assign m_axi_arsize  = LB[2:0];
  assign m_axi_arburst = 2'b01;              // INCR

  wire unused = &{1'b0, m_axi_rid, m_axi_rresp[0]};

  // --------------------------------------------------------------------------
  // Burst splitter: up to one burst per clock into the AR register.
  // Beat and byte counts are kept "minus one".
  // --------------------------------------------------------------------------
  reg                   busy;
  reg  [ADDR_WIDTH-1:0] next_addr;
  reg  [CW-1:0]         left;                // beats still to request
  reg  [ID_WIDTH-1:0]   next_id;
  reg  [3:0]            outstanding;

  reg  [2:0]            q_head, q_tail;      // packet queue, see below
  wire                  queue_full  = (q_tail == {~q_head[2], q_head[1:0]});
  wire                  queue_empty = (q_tail == q_head);
  wire                  start;               // first beat of a packet arrives

  wire                  desc_take = s_desc_valid && s_desc_ready;
  wire [LB-1:0]         desc_off  = s_desc_addr[LB-1:0];
  wire [LEN_WIDTH-1:0]  desc_len  = s_desc_len - 1'b1;
  wire [CW-1:0]         desc_span = {1'b0, desc_len} + {{(CW-LB){1'b0}}, desc_off};
  wire [CW-1:0]         desc_beats = desc_span >> LB;

  wire [11-LB:0]        page_room = ~next_addr[11:LB];      // beats to 4 KiB
  wire [11:0]           room      = {{LB{1'b0}}, page_room};
  wire [11:0]           cap       = (room <= MAX_M1[11:0]) ? room : MAX_M1[11:0];
  wire                  final_burst = (left <= {{(CW-12){1'b0}}, cap});
  wire [7:0]            burst_len   = final_burst ? left[7:0] : cap[7:0];
  wire [11:0]           burst_beats = {4'd0, burst_len} + 12'd1;

  wire                  issue  = busy && (!m_axi_arvalid || m_axi_arready) &&
                                 (outstanding != MAX_OUTSTANDING);
  wire                  r_take = m_axi_rvalid && m_axi_rready;
  wire                  retire = r_take && m_axi_rlast;

  always @(posedge clk) begin
    s_desc_ready <= !busy && !desc_take && !queue_full;

    if (desc_take) begin
      busy      <= 1'b1;
      next_addr <= s_desc_addr;
      left      <= desc_beats;
    end

    if (issue) begin
      m_axi_arid    <= next_id;
      m_axi_araddr  <= next_addr;
      m_axi_arlen   <= burst_len;
      m_axi_arvalid <= 1'b1;
      next_id       <= next_id + 1'b1;
      next_addr     <= {next_addr[ADDR_WIDTH-1:LB] + {{(ADDR_WIDTH-LB-12){1'b0}}, burst_beats},
                        {LB{1'b0}}};
      left          <= left - {{(CW-12){1'b0}}, burst_beats};
      busy          <= !final_burst;
    end else if (m_axi_arready) begin
      m_axi_arvalid <= 1'b0;
    end

    outstanding <= outstanding + {3'b0, issue} - {3'b0, retire};

    if (rst) begin
      s_desc_ready  <= 1'b0;
      busy          <= 1'b0;
      m_axi_arvalid <= 1'b0;
      next_id       <= {ID_WIDTH{1'b0}};
      outstanding   <= 4'd0;
    end
  end

  // --------------------------------------------------------------------------
  // Packet queue: descriptors whose data has not started to arrive
  // --------------------------------------------------------------------------
  localparam QW = TAG_WIDTH + LB + LEN_WIDTH + CW;

  reg  [QW-1:0]        queue [0:3];
  wire [TAG_WIDTH-1:0] q_tag;
  wire [LB-1:0]        q_off;
  wire [LEN_WIDTH-1:0] q_len;
  wire [CW-1:0]        q_beats;
  assign {q_tag, q_off, q_len, q_beats} = queue[q_head[1:0]];

  always @(posedge clk) begin
    if (desc_take)
      queue[q_tail[1:0]] <= {s_desc_tag, desc_off, desc_len, desc_beats};
    q_tail <= rst ? 3'd0 : q_tail + {2'b0, desc_take};
    q_head <= rst ? 3'd0 : q_head + {2'b0, start};
  end

  // --------------------------------------------------------------------------
  // Realigner: each output beat is cut from the held beat and the next one.
  // The first beat only fills the hold register; the last output beat may need
  // no further input.
  // --------------------------------------------------------------------------
  reg  [DATA_WIDTH-1:0] hold;
  reg                   active;
  reg  [TAG_WIDTH-1:0]  tag;
  reg  [LB-1:0]         off;
  reg  [LEN_WIDTH-1:0]  rem;                 // bytes still to send, minus 1
  reg  [CW-1:0]         more;                // beats still to receive
  reg  [1:0]            err;
  reg                   spare_valid;         // output buffer full

  wire                  fetch = active && (more != 0);
  wire                  emit  = active && !spare_valid && (!fetch || m_axi_rvalid);
  wire                  last  = (rem[LEN_WIDTH-1:LB] == 0);
  wire [DATA_WIDTH-1:0] upper = fetch ? m_axi_rdata : {DATA_WIDTH{1'b0}};
  wire [LB+3:0]         shift = {1'b0, off, 3'b000};
  wire [DATA_WIDTH-1:0] data  = (hold >> shift) | (upper << (DATA_WIDTH[LB+3:0] - shift));
  wire [BYTES-1:0]      keep  = last ? {BYTES{1'b1}} >> ~rem[LB-1:0] : {BYTES{1'b1}};
  wire [1:0]            r_err = m_axi_rresp[1] ? m_axi_rresp : 2'b00;
  wire [1:0]            error = (fetch && err == 2'b00) ? r_err : err;

  assign m_axi_rready = active ? (fetch && !spare_valid) : !queue_empty;
  assign start        = !active && r_take;

  always @(posedge clk) begin
    if (r_take) hold <= m_axi_rdata;
    if (start) begin
      active <= 1'b1;
      tag    <= q_tag;
      off    <= q_off;
      rem    <= q_len;
      more   <= q_beats;
      err    <= r_err;
    end else if (emit) begin
      active <= !last;
      rem    <= rem - BYTES[LEN_WIDTH-1:0];
      more   <= more - {{(CW-1){1'b0}}, fetch};
      err    <= error;
    end
    if (rst) active <= 1'b0;
  end

  // --------------------------------------------------------------------------
  // Output buffer: the stream registers and one spare entry after them, so
  // that tready does not reach rready combinationally
  // --------------------------------------------------------------------------
  localparam OW = DATA_WIDTH + BYTES + 1 + TAG_WIDTH + 2;

  reg  [OW-1:0]        spare;
  reg  [TAG_WIDTH-1:0] out_tag;
  reg  [1:0]           out_err;
  wire [OW-1:0]        fresh   = {data, keep, last, tag, error};
  wire                 advance = !m_axis_tvalid || m_axis_tready;

  always @(posedge clk) begin
    if (advance) begin
      {m_axis_tdata, m_axis_tkeep, m_axis_tlast, out_tag, out_err} <=
        spare_valid ? spare : fresh;
      m_axis_tvalid <= spare_valid || emit;
      spare_valid   <= 1'b0;
    end else if (emit) begin
      spare       <= fresh;
      spare_valid <= 1'b1;
    end

    m_status_tag   <= out_tag;
    m_status_error <= out_err;
    m_status_valid <= m_axis_tvalid && m_axis_tready && m_axis_tlast;

    if (rst) begin
      m_axis_tvalid  <= 1'b0;
      m_status_valid <= 1'b0;
      spare_valid    <= 1'b0;
    end
  end

endmodule

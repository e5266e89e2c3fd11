// SPDX-License-Identifier: Apache-2.0
//
// Properties of pto_axi_write with three bursts in flight: an address stays until it is taken, no
// more bursts are in flight than allowed, the decisions for the data are those of the bursts in their
// order, and an op ends with its last response, once.
// Sources: common/pto_axi_write.sv common/pto_fifo.sv common/pto_ram.sv
// Bugs: done_before_response:end_needs_cause
`include "pto_records.vh"

module prove (
  input wire        clk,
  input wire        cmd_valid,
  input wire        drop,
  input wire        joins,
  input pto_burst_t cmd,
  input wire        awready,
  input wire        bvalid,
  input wire [1:0]  bresp,
  input wire        go_ready
);
  reg rst_n = 1'b0;
  always @(posedge clk) rst_n <= 1'b1;

  wire           cmd_ready, awvalid, bready, go_valid, go_drop, go_joins, fin;
  wire [39:0]    awaddr;
  wire [7:0]     awlen;
  wire [3:0]     fin_id;
  wire pto_err_t err;
  pto_axi_write #(.NumOutstanding(3)) u_write (
    .clk_i(clk), .rst_ni(rst_n), .cmd_valid_i(cmd_valid), .cmd_ready_o(cmd_ready),
    .cmd_drop_i(drop), .cmd_joins_i(joins), .cmd_i(cmd), .m_axi_awaddr(awaddr),
    .m_axi_awlen(awlen), .m_axi_awvalid(awvalid), .m_axi_awready(awready), .m_axi_bresp(bresp),
    .m_axi_bvalid(bvalid), .m_axi_bready(bready), .go_valid_o(go_valid), .go_drop_o(go_drop),
    .go_joins_o(go_joins), .go_ready_i(go_ready), .fin_valid_o(fin), .fin_id_o(fin_id),
    .err_o(err)
  );
  (* hierconn *) wire [1:0] \u_write.flight_q ;

  reg [1:0]  flight = 2'd0;                  // bursts issued, without response
  reg        held = 1'b0;
  reg [47:0] held_aw;
  wire fire  = rst_n && cmd_valid && cmd_ready;
  wire issue = fire && !drop && !cmd.cut;

  always @(posedge clk) if (rst_n) begin
    flight  <= flight + {1'b0, issue} - {1'b0, bvalid && bready};
    held    <= awvalid && !awready;
    held_aw <= {awaddr, awlen};
  end

  always @* begin
    // A response follows its address.
    assume(!bvalid || flight > {1'b0, awvalid && !awready});
    if (rst_n) begin
      lemma_flight: assert(\u_write.flight_q == flight);
      stable: assert(!held || (awvalid && held_aw == {awaddr, awlen}));
      limit: assert(!issue || flight != 2'd3 || bvalid);
      response_taken: assert(bready);
      error_is_response: assert(err.valid == (bvalid && bresp[1]));
      end_needs_cause: assert(!fin || bvalid || flight == 2'd0);
      reach_limit: assert(flight != 2'd3);
      reach_end: assert(!fin);
    end
  end
endmodule

// SPDX-License-Identifier: Apache-2.0
//
// Connections of a pto_front but its dones, errors and ends, to the ports of its unit and the wires of
// pto_front_wires.vh.
    .clk_i, .rst_ni, .desc_valid_i, .desc_ready_o, .desc_i, .desc_tag_i, .busy_o,
    .done_tag_o, .done_status_o, .done_rule_o, .done_addr_o,
    .head_valid_o  (head_valid),
    .head_ready_i  (head_ready),
    .head_o        (head),
    .head_tag_o    (head_tag),
    .job_valid_i   (job_valid),
    .job_ready_o   (job_ready),
    .job_verdict_i (verdict),
    .job_tag_i     (job_tag),
    .check_busy_i  (check_busy),
    .start_valid_o (start_valid),
    .start_ready_i (start_ready),
    .start_id_o    (start_id),

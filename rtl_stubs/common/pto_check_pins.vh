// SPDX-License-Identifier: Apache-2.0
//
// Connections between a pto_front and its check, included in the port list of the check.
    .clk_i, .rst_ni,
    .desc_valid_i  (head_valid),
    .desc_ready_o  (head_ready),
    .desc_i        (head),
    .desc_tag_i    (head_tag),
    .busy_o        (check_busy),
    .job_valid_o   (job_valid),
    .job_ready_i   (job_ready),
    .job_tag_o     (job_tag),
    .job_verdict_o (verdict),

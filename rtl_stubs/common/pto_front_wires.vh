// SPDX-License-Identifier: Apache-2.0
//
// Wires between a pto_front, the rule check of its unit and the start of its ops; needs TagWidth.
  wire                      head_valid, head_ready, check_busy, job_valid, job_ready;
  wire                      start_valid, start_ready;
  wire [`PTO_DESC_BITS-1:0] head;
  wire [TagWidth-1:0]       head_tag, job_tag;
  wire [3:0]                start_id;
  wire pto_verdict_t        verdict;

// SPDX-License-Identifier: Apache-2.0
//
// For a unit with the ports of pto_engine_ports.vh that does not access GM. Spec: docs/contract.md.
  `include "pto_no_gm_read.vh"
  `include "pto_no_gm_write.vh"
  wire unused_gm = NumOutstanding[0];

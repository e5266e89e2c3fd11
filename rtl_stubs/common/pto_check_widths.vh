// SPDX-License-Identifier: Apache-2.0
//
// Checks of the parameters of a unit with the ports of pto_engine_ports.vh. A parameter out of
// range names a module that does not exist, in every tool an error. Spec: docs/contract.md.
  generate
    if (GmDataWidth != 128 && GmDataWidth != 256 && GmDataWidth != 512) begin : gen_bad_gm
      pto_error_gm_data_width_must_be_128_256_512 u_error ();
    end
    if (LocalDataWidth != 128 && LocalDataWidth != 256 && LocalDataWidth != 512) begin : gen_bad_loc
      pto_error_local_data_width_must_be_128_256_512 u_error ();
    end
    if (GmAddrWidth != `PTO_GM_ADDR_BITS || LocalAddrWidth != 20
        || DescWidth != `PTO_DESC_BITS || UbSize >= (1 << 20) || L1Size >= (1 << 20))
    begin : gen_bad_addr
      pto_error_address_or_descriptor_width u_error ();
    end
  endgenerate

// SPDX-License-Identifier: Apache-2.0
//
// The parameters of pto_unit_widths.vh that an engine passes on to a unit; the others have one
// value (pto_check_widths.vh).
    .GmDataWidth    (GmDataWidth),
    .LocalDataWidth (LocalDataWidth),
    .TagWidth       (TagWidth),
    .NumOutstanding (NumOutstanding),
    .AxiIdWidth     (AxiIdWidth),
    .UbSize         (UbSize),
    .L1Size         (L1Size),
    .QueueDepth     (QueueDepth)

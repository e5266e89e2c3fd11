// SPDX-License-Identifier: Apache-2.0
//
// The parameters of pto_dma_knobs.vh, passed on.
    .LenBits        (LenBits),
    .PadEndBlock    (PadEndBlock),
    .TailFill       (TailFill),
    .RowRepeatLegal (RowRepeatLegal),
    .CompactLegal   (CompactLegal),
    .PadUnselectedRegister (PadUnselectedRegister),
    .LegacyPadElements     (LegacyPadElements),

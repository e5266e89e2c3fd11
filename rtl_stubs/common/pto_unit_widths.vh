// SPDX-License-Identifier: Apache-2.0
//
// First parameters of a unit, those that its engine passes on (pto_unit_pins.vh).
// Spec: docs/contract.md.
  parameter integer GmAddrWidth    = 40,     // bits of a GM byte address
  parameter integer GmDataWidth    = 256,    // bits of the AXI data bus
  parameter integer LocalAddrWidth = 20,     // bits of an on-chip byte address
  parameter integer LocalDataWidth = 256,    // bits of an on-chip word, but of the src port of FIX
  parameter integer DescWidth      = 512,    // bits of a descriptor
  parameter integer TagWidth       = 8,      // bits of a tag
  parameter integer NumOutstanding = 16,     // AXI bursts in flight in each direction
  parameter integer AxiIdWidth     = 4,      // bits of the AXI ids, which are 0
  parameter integer UbSize         = `PTO_SIZE_UB,  // bytes of one UB sub-block
  parameter integer L1Size         = `PTO_SIZE_L1,  // bytes of L1
  parameter integer QueueDepth     = 4,      // descriptors queued before the check, a power of two

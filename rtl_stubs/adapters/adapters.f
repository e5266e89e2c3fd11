// The adapters, and what they take from the engines. Paths are relative to this file.
pto_apb.sv
pto_axi_to_local.sv
pto_axi_watch.sv
pto_commands.sv
../common/dma/pto_dma_check.sv
../common/dma/pto_dma_loops.sv
../common/pto_extent.sv
../common/pto_fifo.sv
../common/pto_front.sv
../common/pto_ram.sv

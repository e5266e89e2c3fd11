// Paths are relative to this file.
axi_copy.sv
axi_copy_fifo.sv
axi_copy_mover.sv
axi_copy_split.sv

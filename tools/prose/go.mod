module platen/tools/prose

go 1.26.0

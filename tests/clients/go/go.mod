module example.org/decode

go 1.18

require example.org/play v0.0.0

replace example.org/play => ../../../examples/go

module example.org/play

go 1.18

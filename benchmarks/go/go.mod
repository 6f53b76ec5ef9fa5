module sluice.dev/benchmarks/go

go 1.19

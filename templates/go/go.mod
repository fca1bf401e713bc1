module tool

go 1.19

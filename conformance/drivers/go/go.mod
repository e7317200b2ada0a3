module quiesce.example/conformance/driver

go 1.21

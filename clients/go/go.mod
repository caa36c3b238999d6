module tensorloom

go 1.18

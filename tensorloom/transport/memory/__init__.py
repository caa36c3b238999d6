"""Large tensors through memory that both ends map."""

"""Values that have a part for each replica: device maps, variables, regrouping."""

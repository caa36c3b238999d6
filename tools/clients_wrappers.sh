#!/usr/bin/env bash
# clients_wrappers.sh PYTHON [LANGUAGE...]: writes each client's wrappers of operations.
set -e
export PYTHONPATH=$PWD
for language in ${*:2}; do
  case $language in
    go) target=go/tensorflow/op/ops.go ;;
    javascript) target=javascript/lib/ops.js ;;
    cpp) target=cpp/include/tensorloom/ops.h ;;
    java) target=java/src/main/java/org/tensorflow/op/Ops.java ;;
    rust) target=rust/src/ops.rs ;;
    *) continue ;;
  esac
  "$1" clients/generator/generate.py "$language" "clients/$target"
done

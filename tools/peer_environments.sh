#!/usr/bin/env bash
# Makes the virtual environments with real TensorFlow that tests/peer and benchmarks use.
# Usage: peer_environments.sh PYTHON VENV_FOR_1_15 VENV_FOR_2_21
# An environment that is there already is left as it is.
set -euo pipefail
python="$1" venv115="$2" venv221="$3"
install() { "$1/bin/python" -m pip install --quiet --disable-pip-version-check "${@:2}"; }

# TensorFlow 1.15 runs on nothing newer than Python 3.7.
python37() {
  if command -v python3.7 >/dev/null && python3.7 --version >/dev/null 2>&1; then
    command -v python3.7
  elif command -v pyenv >/dev/null; then
    local version
    version=$(pyenv versions --bare | grep '^3\.7\.' | tail -n 1) || return 1
    PYENV_VERSION="$version" pyenv which python
  else
    return 1
  fi
}

if [ -e "$venv115/.complete" ]; then
  :
elif old_python=$(python37); then
  echo "TensorFlow 1.15.0 -> $venv115"
  "$old_python" -m venv "$venv115"
  install "$venv115" 'tensorflow-cpu==1.15.0' 'protobuf<3.21' 'numpy<1.19'
  touch "$venv115/.complete"
else
  echo "no Python 3.7 on this machine: going on without TensorFlow 1.15.0"
fi

if [ ! -e "$venv221/.complete" ]; then
  echo "TensorFlow 2.21.0 -> $venv221"
  "$python" -m venv "$venv221"
  # tensorboard: tests/peer imports all three in one process.
  install "$venv221" -c constraints.txt 'tensorflow-cpu==2.21.0' tensorboard rich \
    numpy ml_dtypes protobuf
  touch "$venv221/.complete"
fi

# Clients of model servers, in a folder that a test puts on the path: without TensorFlow
# and what else they ask for, which is there.
if [ ! -e "$venv221/serving-clients" ]; then
  install "$venv221" --no-deps --target "$venv221/serving-clients" \
    'tensorflow-serving-api==2.21.0' tritonclient python-rapidjson geventhttpclient gevent \
    greenlet zope.event zope.interface brotli urllib3 certifi \
    grpcio-health-checking grpcio-reflection
fi

# The front end that benchmarks/serving_peer.py puts before TensorFlow.
if [ ! -e "$venv221/serving-front" ]; then
  install "$venv221" -c constraints.txt --no-deps --target "$venv221/serving-front" \
    uvicorn click h11
fi

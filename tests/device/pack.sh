#!/bin/bash
# Puts what a machine with a GPU needs to run the tests of tests/device into one folder, below 64 MiB: executables, modules, the
# few shared libraries beside CUDA's, and losses of the CPU device as a reference. Run it where ddbench is built.
#   tests/device/pack.sh [build folder] [pack folder]
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
build=${1:-$root/build/release}
pack=${2:-$root/build/device}

rm -rf "$pack"
mkdir -p "$pack/bin" "$pack/lib/ddbench" "$pack/libs" "$pack/tests"
cp "$build/bin/ddbench" "$pack/bin/"
for module in device_cuda collective_nccl cuda_probe inject_cuda inject nccl_profiler session; do
  [ -e "$build/lib/ddbench/ddbench_$module.so" ] && cp "$build/lib/ddbench/ddbench_$module.so" "$pack/lib/ddbench/"
done
for test in operators_test loader_test workload_models_test nccl_test test_cupti_probe; do
  [ -e "$build/tests/$test" ] && cp "$build/tests/$test" "$pack/bin/"
done
find "$pack" -type f -exec strip --strip-unneeded {} +
cp "$(dirname "$0")"/{run.sh,training_parity.py,pytorch_ddp.py,pytorch_gpt2.py,against_pytorch.py,breakdown.py,lightning_mlp.py} "$pack/tests/"

# Not CUDA's, which are found there, nor the C and C++ libraries of the system.
for file in "$pack"/bin/* "$pack"/lib/ddbench/*; do ldd "$file" || true; done |
  awk '$3 ~ /^\// {print $3}' | sort -u |
  { grep -v -E '/(lib(cu|nccl|nv)[a-zA-Z]*|libc|libm|libdl|librt|libpthread|libstdc\+\+|libgcc_s|libutil|libddbench|ddbench|ld-linux)[-.0-9a-z_]*so' || true; } |
  while read -r library; do cp -L "$library" "$pack/libs/"; done

python3 "$pack/tests/training_parity.py" reference "$build/bin/ddbench" "$pack/reference.json"
du -sh "$pack"

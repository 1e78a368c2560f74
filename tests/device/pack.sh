#!/bin/bash
# Builds what a machine with a GPU needs to run the tests of tests/device, and puts it into one folder, below 64 MiB: executables,
# modules, the few shared libraries beside CUDA's, and losses of the CPU device as a reference. Run it where ddbench is configured;
# exit code 1 when something is missing or would not start there.
#   tests/device/pack.sh [build folder] [pack folder]
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
build=$(cd "${1:-$root/build/release}" && pwd)
pack=${2:-$root/build/device}
modules=(device_cuda collective_nccl cuda_probe cupti_probe inject_cuda inject_cupti inject nccl_profiler nccl_recorder session)
tests=(operators_test loader_test workload_models_test nccl_test nccl_recording_test test_cupti_probe training_trace)

cmake --build "$build" --target ddbench ddbench_device_cpu "${modules[@]/#/ddbench_}" "${tests[@]}"

rm -rf "$pack"
mkdir -p "$pack/bin" "$pack/lib/ddbench" "$pack/libs" "$pack/tests"
pack=$(cd "$pack" && pwd)
cp "$build/bin/ddbench" "${tests[@]/#/$build/tests/}" "$pack/bin/"
for module in "${modules[@]}"; do cp "$build/lib/ddbench/ddbench_$module.so" "$pack/lib/ddbench/"; done
cp -r "$build/lib/ddbench/python" "$pack/lib/ddbench/"
strip --strip-unneeded "$pack"/bin/* "$pack"/lib/ddbench/*.so
cp "$here"/run.sh "$here"/*.py "$root/tests/support/pytorch_models.py" "$pack/tests/"

# Each library that each file needs, as run.sh finds it.
needs() {
  for file in "$pack"/bin/* "$pack"/lib/ddbench/*.so; do
    LD_LIBRARY_PATH="$pack/lib/ddbench:$pack/libs" ldd "$file" | sed "s|^|${file##*/} needs|"
  done
}
# Not CUDA's, which are found there, nor the C and C++ libraries of the system.
cuda='lib(cu|nccl|nv)[a-zA-Z]*[-.0-9a-z_]*so'
system='(lib(c|m|dl|rt|pthread|stdc\+\+|gcc_s|util)|ld-linux)[-.0-9a-z_]*so'
needs | awk '$5 ~ /^\// {print $5}' | sort -u | { grep -v -E "/($cuda|$system)" || true; } | { grep -v "^$pack/" || true; } |
  while read -r library; do cp -L "$library" "$pack/libs/"; done

wrong=$(needs | { grep -E "not found|$build/" || true; } | { grep -v -E "needs\s+$cuda" || true; })
[ -z "$wrong" ] || { printf 'would not start there:\n%s\n' "$wrong" >&2; exit 1; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
DDBENCH_DB=$scratch/results.db python3 "$pack/tests/training_parity.py" reference "$build/bin/ddbench" "$pack/reference.json" ||
  echo "some references are missing (see above): those curves are not compared" >&2
find "$pack" -name __pycache__ -prune -exec rm -rf {} +
du -sh "$pack"

#!/bin/bash
# A pack for run.sh on a machine without a GPU: a build's executables, its modules compiled for the host (tests/support/cuda_on_host),
# and stand-ins for nvidia-smi and compute-sanitizer in PACK/tools. What it shows: that each part ends in time and leaves complete results,
# what the checks make of runs without kernels, and the operators' and collectives' results. Large models take longer than a part.
#   tests/device/stand_in_pack.sh BUILD PACK && PATH=PACK/tools:$PATH OUT=folder tests/device/run.sh PACK tests
set -euo pipefail
build=$(cd "$1" && pwd)
mkdir -p "$2/bin" "$2/lib/ddbench" "$2/tools"
pack=$(cd "$2" && pwd)
ln -sf "$build/bin/ddbench" "$pack/bin/"
for test in operators_test loader_test workload_models_test nccl_test nccl_recording_test test_cupti_probe training_trace; do
  if [ -x "$build/tests/$test" ]; then ln -sf "$build/tests/$test" "$pack/bin/"; fi
done
ln -sf "$build"/lib/ddbench/*.so "$pack/lib/ddbench/"
ln -sf "$build"/lib/cuda_on_host/*.so "$pack/lib/ddbench/"  # instead of those for GPUs
cat > "$pack/tools/nvidia-smi" << 'EOF'
#!/bin/bash
echo "stand-in (no GPU), none"
EOF
cat > "$pack/tools/compute-sanitizer" << 'EOF'
#!/bin/bash
while [ "${1#--}" != "$1" ]; do case $1 in --tool | --error-exitcode | --print-limit) shift 2 ;; *) shift ;; esac; done
"$@" && echo "========= ERROR SUMMARY: 0 errors (a stand-in that looks at nothing)"
EOF
chmod +x "$pack"/tools/*
[ -e "$pack/reference.json" ] || echo '{}' > "$pack/reference.json"

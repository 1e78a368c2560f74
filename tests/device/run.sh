#!/bin/bash
# What needs a GPU. Takes the folder that pack.sh has made and installs nothing. Where a command may take 10 minutes, run the parts one
# by one: each ends within 520 seconds, its last steps unmade if need be. Without a part all of them run, in that time too.
#   new      what has never run on a GPU (RESULTS.md), for a machine that is there for minutes
#   tests    what is there; probes; NCCL between two ranks on one GPU; a first run of everything; operators and models, under
#            compute-sanitizer, too; recordings; parity of training with the CPU, of graphs and of strategies; faults
#   speed    throughput of the engine, with and without graphs; 10,000 all-reduces joined with the events of NCCL's profiler;
#            predicted against measured changes
#   pytorch  against PyTorch and its profiler, programs that ddbench did not write; fails where python3 has no torch
# $ONLY, a regular expression: the steps whose names match it, and no others.
# Without a GPU: stand_in_pack.sh.
# A step that skips, or passes without doing what it is for, fails (whole.py).
# Writes into $OUT, 8 files at most: results.md (rows for RESULTS.md), log.txt (with the JSON of each run), parity.json, the store
# results.db.gz, and recordings of CUPTI for tests/fixtures/cupti and of NCCL's calls for tests/fixtures/nccl.
# Exit codes: 0 all passed, 1 something failed, 3 nothing failed, but not all was reached, 5 no GPU.
#   OUT=folder tests/device/run.sh [pack folder [new|tests|speed|pytorch]]
here=$(cd "$(dirname "$0")" && pwd)
if ! nvidia-smi -L > /dev/null 2>&1 && ! [ -e /dev/nvidiactl ]; then
  echo "no GPU: this machine has no NVIDIA driver" >&2
  exit 5
fi
case ${2:-tests} in new | tests | speed | pytorch) ;; *) echo "there is no part $2: new, tests, speed or pytorch" >&2; exit 2 ;; esac
parts=${2:-new tests speed pytorch}
pack=$(cd "${1:-$here/..}" && pwd)
[ -x "$pack/bin/ddbench" ] || pack=$(cd "$here/../../build/device" 2> /dev/null && pwd)
[ -x "$pack/bin/ddbench" ] || { echo "no pack: run tests/device/pack.sh where ddbench is built" >&2; exit 2; }
ddbench=$pack/bin/ddbench
out=${OUT:-$pack/out}
mkdir -p "$out"
scratch=$(mktemp -d)
results=$out/results.md
export LOG=$out/log.txt DDBENCH_DB=$scratch/results.db DDBENCH_MODULE_DIR=$pack/lib/ddbench PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
failures=0
unreached=0
part_seconds=${PART_SECONDS:-480}  # what gets SIGTERM gets 25 more, and the store has to be packed
[ $# -ge 2 ] || part_seconds=$((part_seconds / 4))
part_ends=$part_seconds  # in bash's SECONDS
: > "$LOG"

# The toolkit's libraries, or those that Python's packages bring.
cuda_folders() {
  ls -d /usr/local/cuda/lib64 /usr/local/nvidia/lib64 2> /dev/null
  python3 - << 'PY' 2> /dev/null
import glob, site, sys
for folder in [*sys.path, *site.getsitepackages()]:
    for library in glob.glob(folder + "/nvidia/*/lib/lib*.so*") + glob.glob(folder + "/nvidia/*/*/lib/lib*.so*"):
        print(library.rsplit("/", 1)[0])
PY
}
LD_LIBRARY_PATH=$pack/lib/ddbench:$pack/libs:$(cuda_folders | sort -u | paste -sd:):${LD_LIBRARY_PATH:-}
export LD_LIBRARY_PATH
gpu=$(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader | head -1)
case $gpu in  # whose peaks MFU is a share of
  *NVL* | *PCIe* | *GH200*) ;;
  *H100*) export SKU=Standard_ND96isr_H100_v5 ;;
  *H200*) export SKU=Standard_ND96isr_H200_v5 ;;
esac
row() { rows=$((${rows:-0} + 1)); echo "| $(date +%F) | ${gpu%,*} | ${gpu#*, } | $1 | $2 |" | tee -a "$results"; }
is_chosen() { [[ $1 =~ ${ONLY:-} ]]; }
fail() { is_chosen "$1" || return 0; row "$1" "FAILED$2"; failures=$((failures + 1)); }

# step WHAT SECONDS COMMAND...: prints a row with passed or failed and the last line of the output; returns
# the exit code.
step() {
  local what=$1 limit=$2 left=$((part_ends - SECONDS)) status last
  shift 2
  is_chosen "$what" || return 0
  [ "$left" -ge 5 ] || { row "$what" "not reached within the part's $part_seconds s"; unreached=$((unreached + 1)); return 1; }
  [ "$limit" -le "$left" ] || limit=$left
  echo "=== $what: $*" >> "$LOG"
  timeout -k 25 "$limit" "$@" > "$out/step.txt" 2>&1
  status=$?
  cat "$out/step.txt" >> "$LOG"
  last=$(grep -E '^\[  (PASSED|FAILED)' "$out/step.txt" | head -n 1)  # GoogleTest's
  last=$(echo "${last:-$(tail -n 1 "$out/step.txt")}" | tr '|' '/' | cut -c-800)
  if [ "$status" = 0 ] && grep -q -E '^\[  SKIPPED \] [0-9]+ test' "$out/step.txt"; then
    status=77
    last=$(grep -c -E '^\[  SKIPPED \] [^0-9]' "$out/step.txt")" lines of skipped tests; $last"
  fi
  case $status in
    0) row "$what" "passed: $last" ;;
    77) fail "$what" ": skipped, though there is a GPU: $last" ;;
    124 | 137) fail "$what" ": not done after $limit s; its last line: $last" ;;
    *) fail "$what" " ($status): $last" ;;
  esac
  rm -f "$out/step.txt"
  return "$status"
}
on_gpu() { step "$1" 90 env DDBENCH_TEST_DEVICE=cuda "$pack/bin/$2" "${@:3}"; }
throughput() { step "$1" 60 python3 "$here/row.py" throughput "$ddbench" --device cuda "${@:2}"; }
program() { step "$1" "$2" python3 "$here/row.py" program "$ddbench" --device cuda "${@:3}"; }
parity() { step "$1" 240 python3 "$here/training_parity.py" "${@:2}"; }
has() { python3 -c "import importlib.util, sys; sys.exit(importlib.util.find_spec('$1') is None)"; }

# The figures, or the whole output if they are wrong.
known_lengths() {
  "$pack/bin/test_cupti_probe" --gtest_filter='KnownLengths.*' > "$scratch/known.txt" 2>&1 || { cat "$scratch/known.txt"; return 1; }
  grep ' recorded ' "$scratch/known.txt" | paste -sd';' | grep .
}

# A short run that records what CUPTI hands over: how many bytes, and the run's figures.
recording() {
  rm -f "$out/$1.cupti"
  DDBENCH_CUPTI_RECORDING=$out/$1.cupti python3 "$here/row.py" throughput "$ddbench" --device cuda --steps 2 --warmup 5 \
    -O hidden=64,64 "${@:2}" > "$scratch/recording.txt" || { cat "$scratch/recording.txt"; return 1; }
  [ "$(stat -c %s "$out/$1.cupti")" -gt 1000 ] || { echo "nothing was recorded"; return 1; }
  echo "$(stat -c %s "$out/$1.cupti") bytes; $(cat "$scratch/recording.txt")"
}

# A short run of two ranks that records what NCCL calls of its profiler plug-in, and the plug-in once more with those calls.
nccl_recording() {
  local folder=$scratch/nccl_recording
  mkdir -p "$folder"
  rm -f "$out/nccl.jsonl"
  # With the events of kernels, which are omitted where CUPTI records the kernels.
  DDBENCH_NCCL_KERNEL_EVENTS=1 NCCL_PROFILER_PLUGIN=$pack/lib/ddbench/ddbench_nccl_recorder.so DDBENCH_NCCL_RECORDING=$out/nccl.jsonl python3 "$here/row.py" throughput \
    "$ddbench" --device cuda --gpus 2 --share-gpus --cuda-graph off --steps 2 --warmup 5 -O hidden=64,64 > "$scratch/recording.txt" ||
    { cat "$scratch/recording.txt"; return 1; }
  [ -e "$out/nccl.jsonl" ] || { echo "nothing was recorded"; return 1; }
  cp "$out/nccl.jsonl" "$folder"
  DDBENCH_NCCL_RECORDINGS=$folder "$pack/bin/nccl_recording_test" --gtest_filter='*OfRealGpusAreUnderstood' > "$scratch/replay.txt" 2>&1 ||
    { cat "$scratch/replay.txt"; return 1; }
  grep ' calls of ' "$scratch/replay.txt"
}
# What a result cannot be judged without.
versions() {
  nvidia-smi --query-gpu=name,driver_version,memory.total,compute_mode --format=csv,noheader || return 1
  "$ddbench" --version
  echo "/dev/shm $(df -h --output=size,avail /dev/shm | tail -n 1)" | tr -s ' '
}

# Without fused attention, gpt2 and bert would be timed with what it falls back to.
doctor() {
  "$ddbench" doctor || return 1
  "$ddbench" doctor | grep -q 'with fused attention' || { echo "no fused attention: cuDNN 9.16 or later is needed"; return 1; }
}

# compute-sanitizer TOOL over the smallest operators; another exit code where it finds something.
sanitized() {
  DDBENCH_TEST_DEVICE=cuda compute-sanitizer --tool "$1" --error-exitcode 9 --print-limit 5 "$pack/bin/operators_test" \
    --gtest_filter="$2" > "$scratch/sanitizer.txt" 2>&1 || { tail -n 40 "$scratch/sanitizer.txt"; return 1; }
  grep -q -E '^\[  PASSED  \] [1-9]' "$scratch/sanitizer.txt" || { echo "no test ran"; return 1; }
  grep 'SUMMARY' "$scratch/sanitizer.txt"
}
sanitize() {
  if command -v compute-sanitizer > /dev/null; then
    step "compute-sanitizer $1 on $2" 60 bash -c "sanitized $1 '$2'"
  else
    fail "compute-sanitizer $1" ": it is not installed"
  fi
}
export -f doctor known_lengths nccl_recording recording sanitized versions
export pack scratch here out ddbench

run_new() {
  step "versions" 20 bash -c versions
  on_gpu "operators against formulas" operators_test '--gtest_filter=-*AlgorithmsTest.*:*BatchNormOfManyRowsFarFromZero/*float16'
  if has torch; then
    program "a window of a program, its own profiler behind it" 90 --skip 2 --measure 4 -- \
      python3 "$here/pytorch_gpt2.py" --layers 2 --batch 2 --sequence 256 --warmup 1 --steps 12 --profiler
    step "resnet50 against PyTorch" 150 python3 "$here/against_pytorch.py" resnet50 "$ddbench"
    step "losses of 100 steps against PyTorch" 150 python3 "$here/pytorch_parity.py" "$pack/bin/training_trace"
  else
    fail "programs of PyTorch" ": python3 has no torch: nothing was compared"
  fi
  if has pytorch_lightning; then
    program "Lightning over NCCL, two nodes" 120 --nodes 2 --gpus 1 --share-gpus --warmup 5 -- python3 "$here/lightning_mlp.py"
  fi
}

run_tests() {
  local gpt2=(--steps 40 --workload gpt2-124m --precision bf16 --batch-per-gpu 4 --optimizer adamw --lr 0.0003)
  step "versions" 20 bash -c versions
  step "what ddbench finds here" 60 bash -c doctor
  step "known kernels and copies within 1%" 60 bash -c known_lengths
  step "CUPTI probe, and graphs between which it was off" 60 "$pack/bin/test_cupti_probe" --gtest_filter='-KnownLengths.*:*WithoutADriver*'
  step "NCCL, two ranks on the GPUs there are" 60 "$pack/bin/nccl_test"
  throughput "a first run" --steps 20
  throughput "a first run of two ranks" --steps 20 --gpus 2 --share-gpus
  step "a recording of CUPTI" 60 bash -c 'recording engine --cuda-graph off'
  step "a recording of CUPTI, with a graph" 60 bash -c 'recording engine_graph'
  step "a recording of NCCL's calls, replayed" 60 bash -c nccl_recording
  # The others count what the stand-in was asked for, or are of float32 alone.
  on_gpu "operators against formulas" operators_test '--gtest_filter=-*AlgorithmsTest.*:*BatchNormOfManyRowsFarFromZero/*float16'
  on_gpu "models: gradients against differences" workload_models_test
  throughput "gpt2-124m bf16, batch 4, a first time" "${gpt2[@]}"
  throughput "gpt2-124m bf16, batch 4, no graph" "${gpt2[@]}" --cuda-graph off
  sanitize memcheck '*LayerNorm*:*Softmax*:*Gelu*'
  sanitize racecheck '*LayerNorm*:*Softmax*'
  sanitize initcheck '*LayerNorm*:*Softmax*:*Gelu*'
  on_gpu "batches sent ahead" loader_test
  if has torch; then  # else the part pytorch fails
    program "a window of a program, its own profiler behind it" 90 --skip 2 --measure 4 -- \
      python3 "$here/pytorch_gpt2.py" --layers 2 --batch 2 --sequence 256 --warmup 1 --steps 12 --profiler
    program "a first program" 90 --warmup 1 -- python3 "$here/pytorch_gpt2.py" --layers 2 --batch 2 --sequence 256 --warmup 1 --steps 3
  fi
  parity "50 steps, losses against the CPU device" compare "$ddbench" "$pack/reference.json" "$out/parity.json"
  parity "50 steps, losses with CUDA graphs against without" graphs "$ddbench"
  parity "50 steps, losses of each strategy against ddp" strategies "$ddbench"
  step "faults with graphs in flight" 240 python3 "$here/faults.py" "$ddbench"
}

run_speed() {
  local gpt2=(--steps 40 --workload gpt2-124m --batch-per-gpu 8 --optimizer adamw --lr 0.0003)
  local mlp=(--steps 100 -O "hidden=2048,2048" --batch-per-gpu 256)
  throughput "resnet50 bf16, batch 64" --steps 40 --workload resnet50 --precision bf16 --batch-per-gpu 64 --data-workers 8
  throughput "gpt2-124m bf16, batch 8" "${gpt2[@]}" --precision bf16
  throughput "gpt2-124m bf16, batch 8, no graph" "${gpt2[@]}" --precision bf16 --cuda-graph off
  throughput "gpt2-124m fp16, batch 8" "${gpt2[@]}" --precision fp16
  throughput "bert-base bf16, batch 16" --steps 40 --workload bert-base --precision bf16 --batch-per-gpu 16 --optimizer adamw --lr 0.0001
  throughput "mlp 2048,2048, one rank" "${mlp[@]}"
  throughput "mlp 2048,2048, one rank, no graph" "${mlp[@]}" --cuda-graph off
  throughput "mlp 2048,2048, two ranks on the GPUs there are" "${mlp[@]}" --gpus 2 --share-gpus
  throughput "mlp 2048,2048, two ranks, no graph" "${mlp[@]}" --gpus 2 --share-gpus --cuda-graph off
  # Six buckets: the widest layer fills the first one, which holds 1 MiB.
  step "all-reduces of two ranks joined with the events of NCCL's profiler" 240 \
    python3 "$here/row.py" join "$ddbench" --device cuda --db "$scratch/join.db" --gpus 2 --share-gpus --cuda-graph off --warmup 10 \
    --steps 2400 -O hidden=64,64,64,64,512,512 --bucket-mb 0.01
  step "predicted against measured changes" 240 python3 "$here/predicted.py" "$ddbench"
}

run_pytorch() {
  has torch || { fail "programs of PyTorch" ": python3 has no torch: nothing was compared"; return; }
  step "PyTorch itself" 90 python3 -c "import torch; print(torch.__version__, torch.cuda.get_device_name())" || return
  step "PyTorch DDP: the same mlp, one rank" 60 python3 "$here/pytorch_ddp.py"
  step "a PyTorch step by ddbench and by torch.profiler, one rank" 120 python3 "$here/breakdown.py" "$ddbench" 1
  step "gpt2-124m against PyTorch" 240 python3 "$here/against_pytorch.py" throughput "$ddbench"
  step "resnet50 against PyTorch" 120 python3 "$here/against_pytorch.py" resnet50 "$ddbench"
  step "losses of 100 steps against PyTorch" 150 python3 "$here/pytorch_parity.py" "$pack/bin/training_trace"
  step "what watching costs" 240 python3 "$here/against_pytorch.py" overhead "$ddbench"
  if has pytorch_lightning; then
    # Two of its nodes on one GPU.
    program "Lightning over NCCL, two nodes" 120 --nodes 2 --gpus 1 --share-gpus --warmup 5 -- python3 "$here/lightning_mlp.py"
  else
    fail "Lightning over NCCL, two nodes" ": python3 has no pytorch_lightning"
  fi
  step "a PyTorch step by ddbench and by torch.profiler, two ranks" 180 python3 "$here/breakdown.py" "$ddbench" 2
}

# The store in one file, and the programs' output in the log. Files above 16 MiB are not returned from a
# borrowed machine.
keep_store() {
  [ -e "$DDBENCH_DB" ] || return
  python3 -c "import sqlite3, sys; sqlite3.connect(sys.argv[1]).execute('PRAGMA wal_checkpoint(TRUNCATE)')" "$DDBENCH_DB"
  gzip -c "$DDBENCH_DB" | split -b 15M -d - "$out/results.db.gz."
  if [ -e "$out/results.db.gz.01" ]; then  # 8 files at most: the recordings become one
    (cd "$out" && tar -czf recordings.tar.gz --remove-files $(ls -- *.cupti nccl.jsonl 2> /dev/null))
  else
    mv "$out/results.db.gz.00" "$out/results.db.gz"
  fi
  find "$DDBENCH_DB.logs" -type f -exec tail -n 200 {} + >> "$LOG" 2> /dev/null
  rm -rf "$DDBENCH_DB" "$DDBENCH_DB"-wal "$DDBENCH_DB"-shm "$DDBENCH_DB.logs"
}

for part in $parts; do
  "run_$part"
  part_ends=$((SECONDS + part_seconds))
done
keep_store
rm -rf "$scratch"
[ "${rows:-0}" -gt 0 ] || { echo "no step's name matches $ONLY" >&2; failures=1; }
echo "$failures failed, $unreached not reached"
[ "$failures" = 0 ] || exit 1
[ "$unreached" = 0 ] || exit 3

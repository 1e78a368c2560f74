#!/bin/bash
# What needs a GPU. Takes the folder that pack.sh has made and installs nothing. Its parts end well within 10 minutes each:
#   engine   parity of operators and of training with the CPU, probes, NCCL between two ranks on one GPU, throughput, graphs
#   pytorch  where python3 has torch: against PyTorch and its profiler, programs that ddbench did not write
# Writes into $OUT: results.md (rows for RESULTS.md), log.txt, parity.json and the store results.db. Exit codes: 0 all passed,
# 1 something failed, 5 no GPU.
#   OUT=folder tests/device/run.sh [pack folder [engine|pytorch]]
here=$(cd "$(dirname "$0")" && pwd)
if ! nvidia-smi -L > /dev/null 2>&1 && ! [ -e /dev/nvidiactl ]; then
  echo "no GPU: this machine has no NVIDIA driver" >&2
  exit 5
fi
case ${2:-engine} in engine | pytorch) ;; *) echo "there is no part $2: engine or pytorch" >&2; exit 2 ;; esac
pack=$(cd "${1:-$here/..}" && pwd)
[ -x "$pack/bin/ddbench" ] || pack=$(cd "$here/../../build/device" 2> /dev/null && pwd)
[ -x "$pack/bin/ddbench" ] || { echo "no pack: run tests/device/pack.sh where ddbench is built" >&2; exit 2; }
out=${OUT:-$pack/out}
mkdir -p "$out"
log=$out/log.txt
results=$out/results.md
failures=0
: > "$log"

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
LD_LIBRARY_PATH=$pack/libs:$(cuda_folders | sort -u | paste -sd:):${LD_LIBRARY_PATH:-}
export LD_LIBRARY_PATH
export DDBENCH_MODULE_DIR=$pack/lib/ddbench DDBENCH_DB=$out/results.db
gpu=$(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader | head -1)
row() { echo "| $(date +%F) | ${gpu%,*} | ${gpu#*, } | $1 | $2 |" | tee -a "$results"; }

# step WHAT SECONDS COMMAND...: a row that says passed, failed or skipped, with the last line of the output.
step() {
  local what=$1 limit=$2 status last
  shift 2
  echo "=== $what: $*" >> "$log"
  timeout "$limit" "$@" > "$out/step.txt" 2>&1
  status=$?
  cat "$out/step.txt" >> "$log"
  last=$(grep -E '^\[  (PASSED|FAILED)' "$out/step.txt" | head -n 1)  # GoogleTest's
  last=$(echo "${last:-$(tail -n 1 "$out/step.txt")}" | tr '|' '/')
  case $status in
    0) row "$what" "passed: $last" ;;
    77) row "$what" "skipped: $last" ;;
    124) row "$what" "FAILED: not done after $limit s"; failures=$((failures + 1)) ;;
    *) row "$what" "FAILED ($status): $last"; failures=$((failures + 1)) ;;
  esac
  rm -f "$out/step.txt"
}
bench() { "$pack/bin/ddbench" "$@"; }
on_gpu() { DDBENCH_TEST_DEVICE=cuda "$pack/bin/$1"; }
export -f bench on_gpu
export pack

throughput() {
  bench run --device cuda --no-baseline --steps "$1" --quiet --json "${@:2}" > "$out/run.json" || return
  python3 - "$out/run.json" << 'PY'
import json, sys
run = json.load(open(sys.argv[1]))
overhead = run["probe_overhead_percent"]
print(f"{run['samples_per_s']:.1f} samples/s, step {run['partition_step_ns'] / 1e6:.3f} ms, "
      f"communication {(run['communication_ns'] or 0) / 1e6:.3f} ms of which {(run['overlap_ns'] or 0) / 1e6:.3f} overlap, "
      f"probes {'not known' if overhead is None else f'{overhead:.2f} %'}, network {run['environment']['network']}, "
      f"graph {run['environment']['facts'].get('training.cuda_graph')}")
PY
}

# 10,000 all-reduces of two ranks: each kernel that CUPTI saw has its event of NCCL's profiler, and none is lost.
join() {
  bench run --device cuda --no-baseline --quiet --json --gpus 2 --share-gpus --cuda-graph off --warmup 10 --steps 3400 \
    -O hidden=512,512,512,512 --bucket-mb 0.01 > "$out/run.json" || return
  python3 - "$out/run.json" << 'PY'
import json, sys
run = json.load(open(sys.argv[1]))
facts = run["environment"]["facts"]
lost = {name: facts[name] for name in ("nccl.events_without_kernel", "nccl.kernels_without_event", "nccl.unfinished", "nccl.unpaired",
                                       "cupti.dropped_records", "analysis.incomplete_collectives") if name in facts}
count = sum(c["count"] for c in run["collectives"] if c["function"] == "all_reduce")
manners = {c["manner"] for c in run["collectives"]}
print(f"{count} all-reduces, lost: {lost or 'none'}, {run['dropped_spans']} spans dropped; {'; '.join(sorted(manners))}")
sys.exit(1 if lost or run["dropped_spans"] or count < 10_000 or "" in manners else 0)
PY
}
export -f throughput join
export here out

run_engine() {
  bench doctor >> "$log" 2>&1
  step "operators against formulas" 90 bash -c "on_gpu operators_test"
  step "models: gradients against differences" 90 bash -c "on_gpu workload_models_test"
  step "batches sent ahead" 60 bash -c "on_gpu loader_test"
  step "NCCL, two ranks on the GPUs there are" 60 "$pack/bin/nccl_test"
  [ -x "$pack/bin/test_cupti_probe" ] && step "CUPTI probe" 60 "$pack/bin/test_cupti_probe"
  step "50 steps, losses against the CPU device" 150 \
    python3 "$here/training_parity.py" compare "$pack/bin/ddbench" "$pack/reference.json" "$out/parity.json"
  step "50 steps, losses with CUDA graphs against without" 120 python3 "$here/training_parity.py" graphs "$pack/bin/ddbench"

  step "resnet50 bf16, batch 64" 60 bash -c "throughput 40 --workload resnet50 --precision bf16 --batch-per-gpu 64 --data-workers 8"
  step "gpt2-124m bf16, batch 8" 60 bash -c "throughput 40 --workload gpt2-124m --precision bf16 --batch-per-gpu 8 --optimizer adamw --lr 0.0003"
  step "gpt2-124m fp16, batch 8" 60 bash -c "throughput 40 --workload gpt2-124m --precision fp16 --batch-per-gpu 8 --optimizer adamw --lr 0.0003"
  step "bert-base bf16, batch 16" 60 bash -c "throughput 40 --workload bert-base --precision bf16 --batch-per-gpu 16 --optimizer adamw --lr 0.0001"
  step "mlp 2048,2048, two ranks on the GPUs there are" 60 bash -c "throughput 100 --gpus 2 --share-gpus -O hidden=2048,2048 --batch-per-gpu 256"
  step "mlp 2048,2048, one rank" 60 bash -c "throughput 100 -O hidden=2048,2048 --batch-per-gpu 256"
  step "mlp 2048,2048, two ranks, no graph" 60 bash -c "throughput 100 --cuda-graph off --gpus 2 --share-gpus -O hidden=2048,2048 --batch-per-gpu 256"
  step "mlp 2048,2048, one rank, no graph" 60 bash -c "throughput 100 --cuda-graph off -O hidden=2048,2048 --batch-per-gpu 256"
  step "gpt2-124m bf16, batch 8, no graph" 60 bash -c "throughput 40 --cuda-graph off --workload gpt2-124m --precision bf16 --batch-per-gpu 8 --optimizer adamw --lr 0.0003"
  step "all-reduces of two ranks joined with the events of NCCL's profiler" 90 bash -c join
  rm -f "$out/run.json"
}

# A program that Lightning drives: two of its nodes on one GPU.
lightning() {
  bench run --device cuda --no-baseline --quiet --json --nodes 2 --gpus 1 --share-gpus --warmup 5 -- python3 "$here/lightning_mlp.py" > "$out/run.json" || return
  python3 - "$out/run.json" << 'PY'
import json, sys
run = json.load(open(sys.argv[1]))
print(f"{run['steps']['measured']} steps of {run['partition_step_ns'] / 1e6:.3f} ms, communication {run['communication_ns'] / 1e6:.3f} ms, "
      f"steps from {run['environment']['facts']['program.steps_from']}")
sys.exit(0 if run["run"]["valid"] else 1)
PY
}
export -f lightning

run_pytorch() {
  if ! python3 -c "import torch" 2> /dev/null; then
    row "programs of PyTorch" "skipped: python3 has no torch"
    return
  fi
  step "PyTorch DDP: the same mlp, one rank" 60 python3 "$here/pytorch_ddp.py"
  step "gpt2-124m against PyTorch" 300 python3 "$here/against_pytorch.py" throughput "$pack/bin/ddbench"
  step "probes against torch.profiler" 120 python3 "$here/against_pytorch.py" overhead "$pack/bin/ddbench"
  step "a PyTorch step by ddbench and by torch.profiler, one rank" 120 python3 "$here/breakdown.py" "$pack/bin/ddbench" 1
  step "a PyTorch step by ddbench and by torch.profiler, two ranks" 120 python3 "$here/breakdown.py" "$pack/bin/ddbench" 2
  if python3 -c "import pytorch_lightning" 2> /dev/null; then
    step "Lightning over NCCL, two nodes" 120 bash -c lightning
  fi
  rm -f "$out/run.json"
}

for part in ${2:-engine pytorch}; do "run_$part"; done
echo "$failures failed"
[ "$failures" = 0 ]

#!/bin/bash
#SBATCH --job-name=ddbench-sweep-mlp
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=4
#SBATCH --gpus-per-node=4
#SBATCH --output=ddbench-sweep-mlp-%j.out
#SBATCH --signal=B:TERM@60
#SBATCH --requeue
#SBATCH --open-mode=append
#
# Submit with:  sbatch THIS_FILE
#
# ddbench must be in the PATH of every node.
# It makes a secret for the ranks of each run, which srun gives them in their environment.
# It goes to the cluster's default partition; --partition names another.
# All sizes are runs of this one job, the case on 1 GPU first. It ends with the table of the curve.
# The curve, and what it costs:  ddbench scaling --where name=ddbench-sweep-mlp
set -eu
ulimit -l unlimited 2>/dev/null || echo "memlock: $(ulimit -l) kB; InfiniBand may need more" >&2
exec ddbench sweep --launcher srun --nodes 1,2 --gpus 4 --baseline --name ddbench-sweep-mlp

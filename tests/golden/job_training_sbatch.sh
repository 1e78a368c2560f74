#!/bin/bash
#SBATCH --job-name=ddbench-mlp
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=4
#SBATCH --gpus-per-node=4
#SBATCH --output=ddbench-mlp-%j.out
#SBATCH --signal=B:TERM@60
#SBATCH --requeue
#SBATCH --open-mode=append
#
# Submit with:  sbatch THIS_FILE
#
# ddbench must be in the PATH of every node.
# It makes a secret for the ranks of each run, which srun gives them in their environment.
# It goes to the cluster's default partition; --partition names another.
# The store and the checkpoints must lie where every node that the job may be started on again finds them.
set -eu
exec ddbench run --launcher srun --workload mlp -O hidden=64,64 --nodes 2 --gpus 4 --checkpoint-every 100 --name ddbench-mlp --continue

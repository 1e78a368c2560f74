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
ddbench run --launcher srun --workload mlp -O hidden=64,64 --nodes 2 --gpus 4 --checkpoint-every 100 --name ddbench-mlp --continue &
ddbench=$!
trap 'kill -TERM $ddbench' TERM
status=0
wait $ddbench || status=$?
while kill -0 $ddbench 2>/dev/null; do status=0; wait $ddbench || status=$?; done
if [ $status = 130 ] && scontrol show job -o $SLURM_JOB_ID | grep -q ' JobState=RUNNING '; then
  echo "interrupted before its work was done: the job starts again and continues from the last checkpoint"
  scontrol requeue $SLURM_JOB_ID
fi
exit $status

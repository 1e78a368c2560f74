#!/bin/bash
#SBATCH --job-name=nightly-run-7
#SBATCH --nodes=3
#SBATCH --ntasks-per-node=2
#SBATCH --partition=short
#SBATCH --account=research
#SBATCH --output=nightly-run-7-%j.out
#SBATCH --signal=B:TERM@60
#
# Submit with:  sbatch THIS_FILE
#
# ddbench must be in the PATH of every node.
# It makes a secret for the ranks of each run, which srun gives them in their environment.
set -eu
exec ddbench run --launcher srun --nodes 3 --gpus 2 --backend mpi --name 'Nightly Run_7' --db /data/results.db -- ./train --note 'it'\''s $HOME, $(id) and "more"' --map 'a: b # c'

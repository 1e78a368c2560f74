"""`ddbench run --emit`: files for schedulers that are not here, held against what those document, and kept from nothing
that a command line can hold. The files themselves are golden files of job_test."""

import json
import os
import shlex
import shutil
import signal
import subprocess

import jsonschema
import pytest
import yaml
from conftest import EXECUTABLE, HANGS_S, ROOT, wait_until
from ports import free_port, free_ports
from test_checkpoint import facts, newest_run
from test_launchers import in_slurm, slurm  # noqa: F401 (fixtures)
from test_preemption import long_case, run_row, wait_for_steps

GPUS = ["--nodes", 2, "--gpus", 4, "--steps", 20, "-O", "hidden=64,64", "--checkpoint-every", 10, "--data-delay", "5ms"]
NASTY = ["./train", "--note", "it's $HOME, $(id), ${x} and \"more\"\\", "a: b # c", "new\nline", "", "\u00e9"]
FORMATS = ["azureml", "sbatch", "kubeflow", "compose"]


def emitted(bench, target, *arguments, command="run"):
    return bench.ok(command, "--emit", target, *arguments).stdout


def document(bench, target, *arguments, command="run"):
    parsed = yaml.safe_load(emitted(bench, target, *arguments, command=command))
    schema = json.loads((ROOT / f"tests/fixtures/job_schemas/{target}.schema.json").read_text())
    jsonschema.Draft202012Validator(schema).validate(parsed)
    return parsed


def script_of(bench, target, *arguments):
    """What a shell of the job is given."""
    if target == "sbatch":
        return emitted(bench, target, *arguments)
    job = document(bench, target, *arguments)
    if target == "azureml":
        return job["command"]
    if target == "compose":
        command = job["services"]["node0"]["command"]
    else:
        replicas = job["spec"].get("pytorchReplicaSpecs") or job["spec"]["mpiReplicaSpecs"]
        first = replicas.get("Master") or replicas["Launcher"]
        command = first["template"]["spec"]["containers"][0]["command"]
    assert command[:2] == ["bash", "-c"]
    return command[2].replace("$$", "$")  # as compose and Kubernetes read it


def arguments_of(bench, script, **environment):
    """What bash gives to ddbench: the words of every call."""
    folder = bench.tmp / "bin"
    folder.mkdir(exist_ok=True)
    log = bench.tmp / "calls"
    log.write_text("")
    spy = folder / "ddbench"
    spy.write_text('#!/usr/bin/python3\nimport fcntl, json, os, sys\n'
                   f'with open("{log}", "a") as out:\n    fcntl.flock(out, fcntl.LOCK_EX)\n'
                   '    print(json.dumps([{k: os.environ.get(k) for k in '
                   '("RANK", "LOCAL_RANK", "WORLD_SIZE")}, sys.argv[1:]]), file=out)\n')
    spy.chmod(0o755)
    subprocess.run(["bash", "-c", script], check=True, timeout=120,
                   env={"PATH": f"{folder}:/usr/bin:/bin", **environment})
    return [json.loads(line) for line in log.read_text().splitlines()]


@pytest.mark.parametrize("target", FORMATS)
def test_the_case_arrives_as_it_was_given(bench, target):
    script = script_of(bench, target, *GPUS, "--name", "nightly")
    calls = arguments_of(bench, script, RANK="1", NODE_RANK="1")
    words = calls[0][1]
    assert words[:2] == ["run", "--launcher"]
    assert words[2] == ("srun" if target == "sbatch" else "env")
    given = dict(zip(words[3::2], words[4::2])) if "--no-baseline" not in words else None
    for option, value in (("--nodes", "2"), ("--gpus", "4"), ("--steps", "20"), ("--workload-option", "hidden=64,64"),
                          ("--checkpoint-every", "10"), ("--data-delay", "5000000ns"), ("--name", "nightly")):
        assert words[words.index(option) + 1] == value, (words, given)
    assert "--continue" in words
    if target in ("kubeflow", "compose"):
        assert sorted(int(variables["RANK"]) for variables, _ in calls) == [4, 5, 6, 7]
        assert {variables["WORLD_SIZE"] for variables, _ in calls} == {"8"}


@pytest.mark.parametrize("target", FORMATS)
def test_no_quoting_changes_a_program(bench, target):
    script = script_of(bench, target, "--gpus", 2, "--device", "cpu", "--", *NASTY)
    for _, words in arguments_of(bench, script, RANK="0", NODE_RANK="0"):
        assert words[words.index("--") + 1:] == NASTY
        assert words[words.index("--device") + 1] == "cpu"
        assert "--continue" not in words


def test_azure_ml(bench):
    job = document(bench, "azureml", *GPUS, "--image", "r/i:1", "--compute", "gpu-cluster")
    assert job["resources"]["instance_count"] == 2
    assert job["distribution"] == {"type": "pytorch", "process_count_per_instance": 4}
    assert job["environment_variables"] == {"LOCAL_WORLD_SIZE": "4"}
    assert job["environment"]["image"] == "r/i:1" and job["compute"] == "azureml:gpu-cluster"
    for work in ([], ["--", "./train"]):
        job = document(bench, "azureml", "--nodes", 2, "--gpus", 4, "--device", "cpu", "--backend", "mpi", *work)
        assert job["distribution"] == {"type": "mpi", "process_count_per_instance": 4}


def test_azure_ml_knows_skus_data_environments_and_tensorflow(bench):
    job = document(bench, "azureml", "--nodes", 2, "--gpus", 8, "--sku", "ND96asr_v4", "--tier", "low-priority", "--data", "azureml:imagenet@latest",
                   "--environment", "azureml://registries/azureml/environments/acpt-pytorch-2.2-cuda12.1/labels/latest")
    assert job["resources"] == {"instance_count": 2, "instance_type": "Standard_ND96asr_v4"} and "compute" not in job
    assert job["queue_settings"] == {"job_tier": "spot"}
    assert job["inputs"] == {"data": {"type": "uri_folder", "path": "azureml:imagenet@latest", "mode": "ro_mount"}}
    assert "--data '${{inputs.data}}'" in job["command"]
    text = emitted(bench, "azureml", "--sku", "ND96asr_v4", "--compute", "gpu", "--tier", "low-priority")
    assert "az ml compute create --type amlcompute --name gpu --size Standard_ND96asr_v4 --tier low_priority" in text
    job = document(bench, "azureml", "--nodes", 2, "--gpus", 4, "--distribution", "tensorflow", "--input", "d=azureml:x:1", "--", "python3", "tf.py")
    assert job["distribution"] == {"type": "tensorflow", "worker_count": 2} and "--gpus" not in job["command"]
    assert job["inputs"]["d"]["path"] == "azureml:x:1"
    refused = bench("run", "--emit", "azureml", "--input", "1x=y")
    assert refused.returncode == 2 and "--input" in refused.stderr


@pytest.mark.parametrize("target", FORMATS)
def test_a_sweep_and_micro_are_one_job(bench, target):
    for command, arguments in (("sweep", ["--nodes", "1,2", "--gpus", "2,4", "--network", "ib"]), ("micro", ["--nodes", 2, "--gpus", 4, "--network", "ib"])):
        text = emitted(bench, target, *arguments, command=command)
        if target != "sbatch":
            document(bench, target, *arguments, command=command)
        assert f"ddbench {command} --launcher {'srun' if target == 'sbatch' else 'env'} " in text
        assert ("--baseline" in text) == (command == "sweep")
        sizes = {"azureml": "instance_count: 2", "sbatch": "--nodes=2", "kubeflow": "Worker:", "compose": "node1:"}
        assert sizes[target] in text
    refused = bench("sweep", "--emit", target, "--nodes", "1,2", "--gpus", 4, "--sku", "NC24s_v3", "--network", "ib")
    assert refused.returncode == 2 and "no InfiniBand" in refused.stderr


def test_containers_get_shared_memory_infiniband_and_secrets(bench):
    pod = document(bench, "kubeflow", "--nodes", 2, "--gpus", 4, "--network", "ib", "--retries", 3, "--interface", "eth0", "--pull-secret", "reg",
                   "--rdma-resource", "rdma/hca_a")["spec"]
    assert pod["runPolicy"] == {"backoffLimit": 3}
    spec = pod["pytorchReplicaSpecs"]["Worker"]["template"]["spec"]
    container = spec["containers"][0]
    assert container["resources"]["limits"] == {"nvidia.com/gpu": 4, "rdma/hca_a": 1}
    assert container["securityContext"]["capabilities"]["add"] == ["IPC_LOCK"]
    assert {"name": "shared-memory", "mountPath": "/dev/shm"} in container["volumeMounts"]
    assert {"name": "NCCL_SOCKET_IFNAME", "value": "eth0"} in container["env"]
    assert spec["imagePullSecrets"] == [{"name": "reg"}]
    service = document(bench, "compose", "--gpus", 2, "--network", "ib")["services"]["node0"]
    assert service["shm_size"] == "8gb" and service["ulimits"]["memlock"] == -1
    assert service["devices"] == ["/dev/infiniband:/dev/infiniband"] and service["cap_add"] == ["IPC_LOCK"]


def test_kubeflow(bench):
    job = document(bench, "kubeflow", *GPUS)
    assert job["kind"] == "PyTorchJob"
    assert {k: v["replicas"] for k, v in job["spec"]["pytorchReplicaSpecs"].items()} == {"Master": 1, "Worker": 1}
    job = document(bench, "kubeflow", "--nodes", 3, "--gpus", 2, "--device", "cpu", "--backend", "mpi", "--", "./train")
    assert job["kind"] == "MPIJob" and job["spec"]["slotsPerWorker"] == 2
    assert job["spec"]["mpiReplicaSpecs"]["Worker"]["replicas"] == 3
    assert "mpirun --allow-run-as-root -n 6 " in emitted(bench, "kubeflow", "--nodes", 3, "--gpus", 2, "--backend", "mpi",
                                                         "--", "./train")


def test_trainjob(bench):
    text = emitted(bench, "trainjob", *GPUS, "--network", "ib", "--job-memory", "64G", "--retries", 2)
    schema = json.loads((ROOT / "tests/fixtures/job_schemas/trainjob.schema.json").read_text())
    runtime, job = yaml.safe_load_all(text)
    for part in (runtime, job):
        jsonschema.Draft202012Validator(schema).validate(part)
    assert job["spec"]["runtimeRef"]["name"] == runtime["metadata"]["name"]
    assert job["spec"]["trainer"] == {"numNodes": 2, "numProcPerNode": 4}
    node = runtime["spec"]["template"]["spec"]["replicatedJobs"][0]["template"]["spec"]
    container = node["template"]["spec"]["containers"][0]
    assert node["backoffLimit"] == 2 and container["securityContext"]["capabilities"]["add"] == ["IPC_LOCK"]
    script = container["command"][2].replace("$$", "$")
    calls = arguments_of(bench, script, PET_NODE_RANK="1", PET_MASTER_ADDR="node-0", PET_MASTER_PORT="29400")
    assert sorted(int(variables["RANK"]) for variables, _ in calls) == [4, 5, 6, 7]
    refused = bench("run", "--emit", "trainjob", "--nodes", 2, "--gpus", 2, "--backend", "mpi", "--", "./train")
    assert refused.returncode == 2 and "MPIJob" in refused.stderr


RESOURCES = ["--nodes", 2, "--gpus", 4, "--job-memory", "64G", "--job-cpus", 8, "--job-env", "NCCL_IB_HCA=mlx5", "--job-env", "NOTE=a $b 'c'"]


def test_jobs_get_memory_cores_variables_and_places(bench):
    variables = {"NCCL_IB_HCA": "mlx5", "NOTE": "a $b 'c'"}
    spec = document(bench, "kubeflow", *RESOURCES, "--shm-size", "16G", "--node-label", "pool=train", "--toleration", "nvidia.com/gpu:NoSchedule",
                    "--toleration", "team=a")["spec"]["pytorchReplicaSpecs"]["Worker"]["template"]["spec"]
    container = spec["containers"][0]
    assert container["resources"]["limits"] == {"nvidia.com/gpu": 4, "cpu": 32, "memory": "64Gi"}
    assert variables.items() <= {v["name"]: v.get("value", "").replace("$$", "$") for v in container["env"]}.items()
    assert {"name": "shared-memory", "emptyDir": {"medium": "Memory", "sizeLimit": "16Gi"}} in spec["volumes"]
    (term,) = spec["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    assert term["matchExpressions"] == [{"key": "pool", "operator": "In", "values": ["train"]}]
    assert spec["tolerations"] == [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"},
                                   {"key": "team", "operator": "Equal", "value": "a"}]
    service = document(bench, "compose", *RESOURCES, "--shm-size", "16G")["services"]["node1"]
    assert (service["shm_size"], service["mem_limit"], service["cpus"]) == ("16g", "64g", 32)
    assert variables.items() <= {k: str(v).replace("$$", "$") for k, v in service["environment"].items()}.items()
    job = document(bench, "azureml", "--job-env", "A=b", "--shm-size", "512M")
    assert job["environment_variables"]["A"] == "b" and job["resources"]["shm_size"] == "512m"
    launcher = document(bench, "kubeflow", "--gpus", 2, "--backend", "mpi", "--job-env", "A=b", "--", "./train")["spec"]["mpiReplicaSpecs"]["Launcher"]
    assert " -x A " in launcher["template"]["spec"]["containers"][0]["command"][2], "mpirun takes it to the workers"


def test_sbatch_gets_time_cores_memory_and_variables(bench):
    file = bench.tmp / "job.sh"
    bench.ok("run", "--emit", "sbatch", "-o", file, *RESOURCES, "--job-time", "2:00:00", "--exclusive", "--network", "ib")
    text = file.read_text()
    for directive in "--cpus-per-task=8", "--mem=64G", "--time=2:00:00", "--exclusive":
        assert f"#SBATCH {directive}\n" in text
    assert "ulimit -l unlimited" in text
    spy = text.replace("exec ddbench", "printenv NOTE NCCL_IB_HCA SRUN_CPUS_PER_TASK; true ddbench")
    assert subprocess.run(["bash", "-c", spy], capture_output=True, text=True, check=True).stdout.splitlines() == ["a $b 'c'", "mlx5", "8"]
    assert shutil.which("sbatch") is None or "unrecognized" not in subprocess.run(
        ["sbatch", "--test-only", file], capture_output=True, text=True, check=False, timeout=120).stderr


def test_a_template_of_the_site(bench):
    template = bench.tmp / "site.sh"
    template.write_text("#!/bin/bash\n#PBS -l select={{nodes}}:ngpus={{ gpus_per_node }}:mem={{memory}}\n{{environment}}{{command}}\n# ${{inputs.x}}\n")
    text = emitted(bench, "sbatch", *RESOURCES, "--template", template)
    assert text.startswith("#!/bin/bash\n#PBS -l select=2:ngpus=4:mem=64G\nexport NCCL_IB_HCA=mlx5\n")
    assert "\nddbench run --launcher srun --nodes 2" in text and text.endswith("# ${{inputs.x}}\n")
    template.write_text("# ours\n{{file}}")
    assert emitted(bench, "compose", "--template", template) == "# ours\n" + emitted(bench, "compose")
    template.write_text("a\n{{nodez}}\n")
    refused = bench("run", "--emit", "sbatch", "--template", template)
    assert refused.returncode == 2 and "line 2 has the placeholder {{nodez}}" in refused.stderr and "ranks_per_node" in refused.stderr


@pytest.mark.parametrize("target, option", [("kubeflow", ["--exclusive"]), ("kubeflow", ["--job-memory", "64"]), ("kubeflow", ["--toleration", "a:b"]),
                                            ("compose", ["--node-label", "a=b"]), ("sbatch", ["--shm-size", "1G"]), ("sbatch", ["--job-time", "1h"]),
                                            ("sbatch", ["--job-env", "1=2"]), ("sbatch", ["--template", "/nosuch"]), ("azureml", ["--job-cpus", "2"])])
def test_what_a_job_cannot_have_is_named(bench, target, option):
    refused = bench("run", "--emit", target, *option)
    assert refused.returncode == 2 and option[0] in refused.stderr


def test_compose(bench):
    services = document(bench, "compose", *GPUS)["services"]
    assert list(services) == ["node0", "node1"]
    devices = [s["deploy"]["resources"]["reservations"]["devices"][0]["device_ids"] for s in services.values()]
    assert devices == [["0", "1", "2", "3"], ["4", "5", "6", "7"]]
    assert "deploy" not in document(bench, "compose", "--device", "cpu")["services"]["node0"]


@pytest.mark.parametrize("arguments", [GPUS, ["--device", "cpu", "--nodes", 2, "--", *NASTY]])
def test_sbatch_is_a_script(bench, arguments):
    file = bench.tmp / "job.sh"
    bench.ok("run", "--emit", "sbatch", "-o", file, *arguments)
    assert subprocess.run(["bash", "-n", file], check=False).returncode == 0
    directives = [line[8:] for line in file.read_text().splitlines() if line.startswith("#SBATCH ")]
    assert "--nodes=2" in directives
    assert all(shlex.split(directive) == [directive] for directive in directives), directives
    assert ("--requeue" in directives) == ("--" not in arguments)
    assert shutil.which("sbatch") is None or "unrecognized" not in subprocess.run(
        ["sbatch", "--test-only", file], capture_output=True, text=True, check=False, timeout=120).stderr


def real_path(bench):
    """A PATH in which ddbench is the one under test."""
    folder = bench.tmp / "real"
    folder.mkdir(exist_ok=True)
    if not (folder / "ddbench").exists():
        (folder / "ddbench").symlink_to(EXECUTABLE)
    return f"{folder}:{bench.environment['PATH']}"


def check_continued(bench, first):
    second = newest_run(bench)
    assert run_row(bench, second)["state"] == "done"
    assert facts(bench, second)["resumed.from"] == first
    assert facts(bench, second)["launcher"] == facts(bench, first)["launcher"]


def test_the_script_of_a_node_trains_is_preempted_and_goes_on(bench):
    script = script_of(bench, "compose", *long_case("--device", "cpu", "--db", bench.db))
    environment = dict(bench.environment, PATH=real_path(bench), NODE_RANK="0", MASTER_ADDR="127.0.0.1",
                       MASTER_PORT=str(free_port() - 1))

    def start():
        return subprocess.Popen(["bash", "-c", script], env=environment, text=True, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process = start()
    wait_for_steps(bench, process)
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 130, err
    first = newest_run(bench)
    assert run_row(bench, first)["state"] == "preempted"
    process = start()
    _, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    check_continued(bench, first)


def test_the_command_for_azure_ml_trains_with_the_variables_that_its_service_sets(bench):
    job = document(bench, "azureml", "--gpus", 2, "--device", "cpu", "--steps", 12, "-O", "hidden=16", "--db", bench.db)
    place = {"WORLD_SIZE": "2", "NODE_RANK": "0", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port() - 1)}
    ranks = [subprocess.Popen(["bash", "-c", job["command"]], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True,
                              env=dict(bench.environment, PATH=real_path(bench), RANK=rank, LOCAL_RANK=rank, **place,
                                       **job["environment_variables"])) for rank in "01"]
    for rank in ranks:
        _, err = rank.communicate(timeout=300)
        assert rank.returncode == 0, err
    assert run_row(bench, newest_run(bench))["state"] == "done"


def test_a_sweep_of_azure_ml_yields_a_curve_with_its_reference(bench):
    """Every process is started once and for the largest size; those that a size does not need wait."""
    job = document(bench, "azureml", "--nodes", "1,2", "--gpus", 1, "--device", "cpu", "--steps", 5, "--warmup", 1, "-O", "hidden=16", "--db", bench.db,
                   command="sweep")
    place = {"WORLD_SIZE": "2", "LOCAL_RANK": "0", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_ports(10)[0]), "DDBENCH_TOKEN": "0" * 32}
    command = job["command"].replace("--launcher env", "--launcher env --interface lo")
    ranks = [subprocess.Popen(["bash", "-c", command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              env=dict(bench.environment, PATH=real_path(bench), RANK=rank, NODE_RANK=rank, **place,
                                       **job["environment_variables"])) for rank in "01"]
    (table, err), _ = [rank.communicate(timeout=300) for rank in ranks]
    assert [rank.returncode for rank in ranks] == [0, 0], err
    assert "Weak scaling against 1 GPU" in table
    sizes = bench.rows("select count(*) n, state from run group by state")
    assert [(row["n"], row["state"]) for row in sizes] == [(2, "done")]


def test_ranks_of_a_sweep_fail_with_rank_0(bench):
    """Else a scheduler that starts failed ranks again starts rank 0 alone."""
    ports = free_ports(10)
    place = {"WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "2", "NODE_RANK": "0", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(ports[0])}
    ranks = [bench.start("sweep", "--launcher", "env", "--gpus", "1,2", "--device", "cpu", "--steps", 100000, "-O", "hidden=16",
                         env=dict(bench.environment, RANK=rank, LOCAL_RANK=rank, **place)) for rank in "01"]

    class Both:
        poll = staticmethod(lambda: ranks[0].poll() or ranks[1].poll())
        communicate = staticmethod(lambda: [rank.communicate() for rank in ranks])
    bench.wait_for_step(Both, 2, 1)  # the case on 1 GPU: the other rank waits
    ranks[0].kill()
    _, err = ranks[1].communicate(timeout=300)
    assert ranks[1].returncode == 1 and f"rank 0 of the sweep, at 127.0.0.1:{ports[1]}" in err
    ranks[0].communicate(timeout=300)
    bench.ok("show")  # which ends the run of the dead rank 0, and removes its folder


@pytest.mark.parametrize("target", ["azureml", "kubeflow", "compose"])
def test_repetitions_are_those_of_a_sweep(bench, target):
    for command, instead in (("run", "ddbench sweep --repeat"), ("micro", "ddbench sweep --workload micro -O operations=... -O max_bytes=... --repeat")):
        refused = bench(command, "--gpus", 2, "--repeat", 3, "--emit", target)
        assert refused.returncode == 2 and instead in refused.stderr and refused.stdout == ""
        document(bench, target, "--gpus", 2, "--repeat", 3, *(["--workload", "micro"] if command == "micro" else []), command="sweep")


def test_a_mistake_in_an_axis_names_its_option(bench):
    refused = bench("sweep", "--network", "ib,wifi", "--nodes", 2)
    assert refused.returncode == 2 and "--network" in refused.stderr and "requested_network" not in refused.stderr


@pytest.mark.parametrize("arguments, words", [
    (["--gpus", "1,4"], "the sweep has 1 nodes x 4 ranks, but 1 nodes x 2 ranks were started"),
    (["--gpus", "1,2", "--start-timeout", "1"], "1 of 2 ranks did not come to the sweep"),
])
def test_a_sweep_that_its_ranks_cannot_run_says_so(bench, arguments, words):
    done = bench("sweep", "--launcher", "env", "--device", "cpu", *arguments,
                 env=dict(bench.environment, RANK="0", WORLD_SIZE="2", LOCAL_RANK="0", LOCAL_WORLD_SIZE="2", MASTER_ADDR="127.0.0.1",
                          MASTER_PORT=str(free_port() - 1)))
    assert done.returncode in (2, 5) and words in done.stderr


@pytest.mark.parametrize("whom", [["--batch"], []], ids=["SIGTERM to the launcher", "SIGTERM to the ranks"])
def test_slurm_runs_the_batch_script_which_starts_itself_again_and_goes_on(in_slurm, whom):
    bench = in_slurm
    environment = dict(bench.environment, PATH=real_path(bench))
    file = bench.tmp / "job.sh"
    bench.ok("run", "--emit", "sbatch", "-o", file, "--partition", "work", "--interface", "lo",
             *long_case("--device", "cpu", "--db", bench.db))

    def slurm_says(*command):
        return subprocess.run(command, env=environment, cwd=bench.tmp, check=True, timeout=120, text=True,
                              capture_output=True).stdout

    def state_of(job):
        return slurm_says("scontrol", "show", "job", job).split("JobState=")[1].split()[0]

    def ended(job):
        wait_until(lambda: state_of(job) not in ("PENDING", "RUNNING", "COMPLETING", "CONFIGURING"), HANGS_S, "the job has ended")
        return state_of(job), (bench.tmp / f"ddbench-mlp-{job}.out").read_text()

    class Running:
        poll = staticmethod(lambda: None)
    job = slurm_says("sbatch", "--parsable", file).strip()
    wait_for_steps(bench, Running)
    slurm_says("scancel", *whom, "--signal=TERM", job)
    wait_until(lambda: state_of(job) == "PENDING", HANGS_S, "the job waits to be started again")
    assert "PREEMPTED" in (bench.tmp / f"ddbench-mlp-{job}.out").read_text()
    first = newest_run(bench)
    assert run_row(bench, first)["state"] == "preempted"
    slurm_says("scontrol", "update", f"JobId={job}", "StartTime=now")  # Slurm would wait for two minutes
    state, output = ended(job)
    assert state == "COMPLETED", output
    facts = json.loads(run_row(bench, newest_run(bench))["facts_json"])
    assert (facts["job.id"], facts["job.restarts"]) == (f"slurm {job}", "1")
    check_continued(bench, first)


def test_a_failed_rank_fails_its_node(bench):
    script = script_of(bench, "compose", "--gpus", 3, "--device", "cpu")
    folder = bench.tmp / "bin"
    folder.mkdir()
    rank = folder / "ddbench"
    rank.write_text("#!/bin/sh\n[ $RANK = 4 ] && exit 7\nexit 0\n")
    rank.chmod(0o755)
    done = subprocess.run(["bash", "-c", script], check=False, timeout=120,
                          env={"PATH": f"{folder}:/usr/bin:/bin", "NODE_RANK": "1"})
    assert done.returncode == 7


@pytest.mark.parametrize("arguments, words", [
    (["--emit", "pbs"], ["pbs", "azureml, sbatch, kubeflow, trainjob or compose"]),
    (["--emit", "compose", "--backend", "mpi", "--", "./train"], ["mpi", "compose"]),
    (["--emit", "compose", "--nodes", 2, "--backend", "mpi"], ["mpi", "compose"]),
    (["--emit", "azureml", "--nodes", 2, "--device", "cuda", "--backend", "mpi"], ["mpi", "nccl"]),
    (["--emit", "sbatch", "--nodes", 2, "--link", "1gbit"], ["--link", "1gbit"]),
    (["--emit", "sbatch", "--workload", "resnet9000"], ["resnet9000"]),
    (["--emit", "sbatch", "--nodes", 0], ["nodes"]),
    (["--image", "r/i:1"], ["--image", "--emit"]),
    (["--backend", "mpi", "--gpus", 2], ["mpi", "--launcher mpirun"]),
])
def test_mistakes(bench, arguments, words):
    done = bench("run", *arguments)
    assert done.returncode == 2 and done.stdout == ""
    assert all(word in done.stderr for word in words), done.stderr
    assert not bench.db.exists()


def test_a_file_that_cannot_be_written(bench):
    for output in ("no/such/folder/job.sh", "."):
        done = bench("run", "--emit", "sbatch", "--output", bench.tmp / output)
        assert done.returncode == 2 and str(bench.tmp / output) in done.stderr, done.stderr
    assert list(bench.tmp.glob(".ddbench-*")) == []


def test_a_dash_is_standard_output(bench):
    shown = emitted(bench, "sbatch")
    assert bench.ok("run", "--emit", "sbatch", "-o", "-", cwd=bench.tmp).stdout == shown != ""
    assert not (bench.tmp / "-").exists()


def test_a_secret_whose_name_is_no_utf8(bench):
    assert "\ufffd" in emitted(bench, "kubeflow", "--image", "a", "--pull-secret", os.fsdecode(b"s\xff"))

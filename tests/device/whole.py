"""What is wrong with a run that ended well, but did not do what it was started for."""

MEASURED_FOR_OVERHEAD = 40  # steps from which on the probes' cost has to be known
MOST_OF_MOVEMENT = 0.25     # of what the loss moves may be allowed as a difference


def option(arguments, name):
    """The value of an option; None where it is not given."""
    arguments = [str(argument) for argument in arguments]
    return arguments[arguments.index(name) + 1] if name in arguments[:-1] else None


def wrong_with_graph(run, arguments):
    """On CUDA steps run in graphs, unless --cuda-graph off."""
    if option(arguments, "--device") != "cuda":
        return None
    reported = run["environment"]["facts"].get("training.cuda_graph") or "the run does not state whether it used graphs"
    if option(arguments, "--cuda-graph") == "off":
        return f"captured though --cuda-graph off: {reported}" if reported.startswith("captured") else None
    return None if reported.startswith("captured") else f"no CUDA graph: {reported}"


def wrong_with_probes(run, is_program):
    facts = run["environment"]["facts"]
    # Programs have no steps without probes; and with filtered windows CUPTI went on recording, because of graphs.
    can_be_known = not is_program and not int(facts.get("cupti.filtered_windows", 0))
    if can_be_known and run["steps"]["measured"] >= MEASURED_FOR_OVERHEAD and run["probe_overhead_percent"] is None:
        return "what the probes cost is not known"
    if not run["partition_ns"]["compute"]:
        return "no compute was seen"
    why = facts.get("cupti.unavailable")
    return f"no kernels were recorded: {why}" if why else None


def wrong_with_window(run, arguments):
    """All of its steps are measured, and each of their kernels has its end."""
    steps = option(arguments, "--measure")
    if steps is None:
        return None
    without_end = int(run["environment"]["facts"].get("cupti.invalid_times", 0))
    if run["steps"]["measured"] != int(steps):
        return f"{run['steps']['measured']} steps of a window of {steps} were measured"
    return f"{without_end} records of the window without an end" if without_end else None


def wrong_with_communication(run):
    """Several ranks that never talk do not train one model."""
    if run["run"]["world_size"] < 2 or run["communication_ns"]:
        return None
    return f"{run['run']['world_size']} ranks without any communication"


def wrong_with(run, arguments):
    """Texts; none for a run that is what its options say."""
    is_program = "--" in map(str, arguments)
    found = [wrong_with_communication(run), wrong_with_probes(run, is_program)]
    if is_program:
        found.append(wrong_with_window(run, arguments))
    else:
        found.append(wrong_with_graph(run, arguments))
    return [text for text in found if text]


def allowed_difference(reference, tolerance):
    """Of a step's loss, relative: no more than a quarter of what the reference itself moves, because a wider bound would pass
    a training that learns nothing. None where the reference hardly moves: it can show nothing."""
    moved = (reference[0] - min(reference)) / max(abs(reference[0]), 0.1)
    return min(tolerance, MOST_OF_MOVEMENT * moved) if moved > 0.01 else None

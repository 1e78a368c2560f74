"""Holds the golden JSON reports against the schemas: validate_schemas.py SCHEMA_DIR GOLDEN_DIR"""

import json
import pathlib
import sys

import jsonschema

ALWAYS = {"run", "run_list", "scaling"}


def main(schema_dir, golden_dir):
    schemas = {}
    for file in schema_dir.glob("*.schema.json"):
        schemas[file.name.removesuffix(".schema.json")] = json.loads(file.read_text())
    for schema in schemas.values():
        jsonschema.Draft7Validator.check_schema(schema)
    failures = 0
    seen = set()
    for file in sorted(golden_dir.glob("*.json")):
        # scaling_weak.json belongs to scaling.schema.json, run_list.json to run_list's and not to run's.
        name = max((n for n in schemas if file.name.startswith(n)), key=len, default=None)
        if name is None:
            failures += 1
            print(f"{file.name}: its name begins with that of no schema in {schema_dir}")
            continue
        seen.add(name)
        for error in jsonschema.Draft7Validator(schemas[name]).iter_errors(json.loads(file.read_text())):
            failures += 1
            print(f"{file.name}: {'.'.join(map(str, error.absolute_path))}: {error.message}")
    if not ALWAYS <= seen:
        failures += 1
        print(f"no golden file for {ALWAYS - seen}")
    # A schema that takes anything proves nothing.
    damaged = json.loads((golden_dir / "run_complete.json").read_text())
    del damaged["partition_ns"]["idle"]
    damaged["run"]["state"] = "finished"
    if len(list(jsonschema.Draft7Validator(schemas["run"]).iter_errors(damaged))) != 2:
        failures += 1
        print("run.schema.json does not notice a missing part and an unknown state")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])))

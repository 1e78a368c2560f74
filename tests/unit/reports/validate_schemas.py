"""Holds the golden JSON reports against the schemas: validate_schemas.py SCHEMA_DIR GOLDEN_DIR"""

import json
import pathlib
import sys

import jsonschema

SCHEMA_OF = {"run_list": "run_list", "run": "run", "scaling": "scaling"}  # by beginning of the file's name


def schema_name(file):
    return next(schema for beginning, schema in SCHEMA_OF.items() if file.name.startswith(beginning))


def main(schema_dir, golden_dir):
    schemas = {}
    for name in set(SCHEMA_OF.values()):
        schemas[name] = json.loads((schema_dir / f"{name}.schema.json").read_text())
        jsonschema.Draft7Validator.check_schema(schemas[name])
    failures = 0
    seen = set()
    for file in sorted(golden_dir.glob("*.json")):
        name = schema_name(file)
        seen.add(name)
        for error in jsonschema.Draft7Validator(schemas[name]).iter_errors(json.loads(file.read_text())):
            failures += 1
            print(f"{file.name}: {'.'.join(map(str, error.absolute_path))}: {error.message}")
    if seen != set(schemas):
        failures += 1
        print(f"no golden file for {set(schemas) - seen}")
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

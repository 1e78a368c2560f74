#!/usr/bin/env python3
"""Makes a wheel of a build: the command line, its modules, and `import ddbench`. The dashboard is not in it.

    cmake/packages/make_wheel.py build/release DIR        # writes DIR/ddbench-VERSION-py3-none-PLATFORM.whl

Libraries that a Python image lacks are copied into the wheel. Not copied: what must be the machine's own (MPI, CUDA, NCCL,
libcurl; OpenSSL 3 because its fixes come with the system), and the C and C++ runtimes. So the wheel runs on systems with OpenSSL 3 and at
least the glibc and libstdc++ of the machine that built it. Needs Debian or Ubuntu (for the licences of the libraries), cmake, patchelf,
binutils and the Python package `wheel`.
"""

import argparse
import importlib.util
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile

# By the names under which programs ask for them, without versions.
OF_THE_SYSTEM = {"linux-vdso", "ld-linux-x86-64", "ld-linux-aarch64", "libc", "libm", "libdl", "librt", "libpthread", "libresolv",
                 "libgcc_s", "libstdc++", "libz", "libcrypto", "libssl"}
MODULES_OF_THE_SYSTEM = re.compile(r"ddbench_(collective_(mpi|nccl)|device_cuda|cupti_probe|inject_cupti|http)\.so")
METADATA = """Metadata-Version: 2.1
Name: ddbench
Version: {version}
Summary: Scaling profiler and benchmark suite for distributed training
License: Apache-2.0; bundled libraries: see the folder licenses
Requires-Python: >=3.6
Description-Content-Type: text/markdown

{readme}"""
WHEEL = """Wheel-Version: 1.0
Generator: ddbench
Root-Is-Purelib: false
Tag: {tag}
"""


def run(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"make_wheel: `{' '.join(map(str, command))}` failed: {(done.stderr or done.stdout).strip()}")
    return done.stdout


def check(build):
    """Whatever can be missing is found before anything is made. Returns the build's cache."""
    for tool in ("cmake", "patchelf", "ldd", "objdump", "dpkg"):
        if shutil.which(tool) is None:
            sys.exit(f"make_wheel: {tool} is not installed")
    if importlib.util.find_spec("wheel") is None:
        sys.exit(f"make_wheel: {sys.executable} has no package `wheel` (on Debian: python3-wheel)")
    if not (build / "CMakeCache.txt").is_file():
        sys.exit(f"make_wheel: {build} is no build folder: `cmake --preset release && cmake --build --preset release` makes build/release")
    cache = dict(re.findall(r"^(\w+):\w+=(.*)$", (build / "CMakeCache.txt").read_text(), re.MULTILINE))
    if cache.get("DDBENCH_SANITIZE"):
        sys.exit(f"make_wheel: {build} is built with sanitizers")
    for folder in ("CMAKE_INSTALL_LIBDIR", "DDBENCH_PYTHON_INSTALL_DIR"):
        if cache.get(folder, "").startswith("/"):
            sys.exit(f"make_wheel: {folder} of {build} is {cache[folder]}: configure it without an absolute path")
    return cache


def glibc_of(binaries):
    """The newest version of glibc's symbols that any of them needs."""
    versions = {tuple(map(int, found)) for binary in binaries for found in re.findall(r"GLIBC_(\d+)\.(\d+)", run("objdump", "-T", binary))}
    return max(versions)


def is_elf(path):
    with open(path, "rb") as file:
        return file.read(4) == b"\x7fELF"


def base_name(library):
    return library.split(".so")[0]


def libraries_of(binary):
    """Paths of the libraries that `binary` needs, directly and through others, by their names."""
    found = {}
    for line in run("ldd", binary).splitlines():
        match = re.match(r"\s*(\S+) => (/\S+)", line)
        if match:
            found[match.group(1)] = pathlib.Path(match.group(2))
        elif "not found" in line:
            sys.exit(f"make_wheel: {binary} needs {line.split()[0]}, which is not installed")
    return found


def licence_of(library):
    """The copyright file of the Debian package that installed this library, and which package that is."""
    for path in (library, library.resolve()):
        done = subprocess.run(["dpkg", "-S", path], capture_output=True, text=True)
        package = done.stdout.split(":")[0].split(",")[0]
        if done.returncode == 0 and pathlib.Path("/usr/share/doc", package, "copyright").is_file():
            return pathlib.Path("/usr/share/doc", package, "copyright"), package
    sys.exit(f"make_wheel: {library} belongs to no package, so its licence is not known")


def add_licence(name, library, licences):
    terms, package = licence_of(library)
    version = run("dpkg-query", "-W", "-f", "${source:Package} ${source:Version}", package)
    (licences / f"{base_name(name)}.txt").write_text(f"{name}, of Debian's {package}; source package: {version}\n\n{terms.read_text()}")
    for common in re.findall(r"/usr/share/common-licenses/([\w.+-]*\w)", terms.read_text()):
        if pathlib.Path("/usr/share/common-licenses", common).is_file():
            shutil.copy(f"/usr/share/common-licenses/{common}", licences)


def bundle(tree, modules, licences):
    """Copies the libraries that are not expected of a system, each with its licence, and lets the binaries find them. Those that only
    modules need have a folder of their own: `ddbench doctor` must not take them for the machine's. Returns all binaries."""
    of_programs, of_modules = modules / "libs", modules / "module_libs"
    binaries = [file for file in sorted(tree.rglob("*")) if file.is_file() and not file.is_symlink() and is_elf(file)]
    binaries.sort(key=lambda binary: binary.parent.name != "bin")
    of_programs.mkdir()
    of_modules.mkdir()
    for binary in binaries:
        if MODULES_OF_THE_SYSTEM.fullmatch(binary.name):
            continue
        folder = of_programs if binary.parent.name == "bin" else of_modules
        for name, path in libraries_of(binary).items():
            if base_name(name) not in OF_THE_SYSTEM and not any((there / name).exists() for there in (modules, of_programs, of_modules)):
                shutil.copy(path, folder / name)
                add_licence(name, path, licences)
    for binary in binaries:
        is_program = binary.parent.name == "bin"
        near = [f"$ORIGIN{up}{folder}" for up in ("", "/..") for folder in ("", "/libs", "/module_libs")]  # or from lib/ddbench/cuda13
        own = "$ORIGIN/../" + str(of_programs.relative_to(tree)) if is_program else ":".join(near)
        run("patchelf", "--set-rpath", own, binary)
    libraries = [*of_programs.iterdir(), *of_modules.iterdir()]
    for library in libraries:
        library.chmod(0o644)
        run("patchelf", "--set-rpath", "$ORIGIN:$ORIGIN/../libs", library)
    return binaries + libraries


def make_wheel(build, into):
    cache = check(build)
    version, source = cache["CMAKE_PROJECT_VERSION"], pathlib.Path(cache["CMAKE_HOME_DIRECTORY"])
    with tempfile.TemporaryDirectory() as scratch:
        root = pathlib.Path(scratch, "wheel")
        tree = root / f"ddbench-{version}.data" / "data"
        for component in ("ddbench", "cuda"):
            run("cmake", "--install", build, "--prefix", tree, "--strip", "--component", component)
            (build / f"install_manifest_{component}.txt").unlink(missing_ok=True)  # of a folder that is gone soon
        modules = next(tree.rglob("ddbench_session.so")).parent
        info = root / f"ddbench-{version}.dist-info"
        (info / "licenses").mkdir(parents=True)
        binaries = bundle(tree, modules, info / "licenses")
        tag = "py3-none-manylinux_{}_{}_{}".format(*glibc_of(binaries), platform.machine())
        for installed in tree.rglob("*-packages"):  # `import ddbench` of one Python; the wheel is for all
            shutil.rmtree(installed)
        shutil.copy(modules / "python" / "ddbench.py", root)
        (info / "METADATA").write_text(METADATA.format(version=version, readme=(source / "README.md").read_text()))
        (info / "WHEEL").write_text(WHEEL.format(tag=tag))
        shutil.copy(source / "LICENSE", info)
        into.mkdir(parents=True, exist_ok=True)
        run(sys.executable, "-m", "wheel", "pack", root, "--dest-dir", into)
    print(into / f"ddbench-{version}-{tag}.whl")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path, help="build folder of a release")
    parser.add_argument("into", type=pathlib.Path, help="folder for the wheel")
    options = parser.parse_args()
    make_wheel(options.build.resolve(), options.into.resolve())

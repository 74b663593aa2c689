"""Installs a build into a temporary folder and uses it from there, with find_package and with pkg-config.

    install_test.py BUILD SOURCE
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

BUILD, SOURCE = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
HERE = pathlib.Path(__file__).parent
PRIVATE = re.compile(r'#\s*include\s*[<"](arrow/|parquet/|netcdf|mpi\.h|tbb/|fmt/|nlohmann/)')


def run(*words, expect=0, **options):
    done = subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    if (done.returncode == 0) != (expect == 0):
        sys.exit(f"{' '.join(map(str, words))}: exit code {done.returncode}\n{done.stdout}")
    return done.stdout


def must(holds, message):
    if not holds:
        sys.exit(message)


def check_files(prefix):
    """No file mentions the build or source folder, and programs search for libraries only relative to themselves."""
    files = [path for path in prefix.rglob("*") if path.is_file()]
    for path in files:
        content = path.read_bytes()
        for folder in (BUILD, SOURCE):
            must(os.fsencode(folder) + b"/" not in content, f"{path} mentions {folder}")
        if content.startswith(b"\x7fELF"):
            for way in re.findall(r"\((?:RUNPATH|RPATH)\).*\[(.*)\]", run("readelf", "-d", path)):
                must(all(part.startswith("$ORIGIN") for part in way.split(":")), f"{path} looks for libraries in {way}")
    return files


def check_headers(include, folder):
    """Returns a source that includes every header. Headers may include those of Eigen, but of no other library."""
    headers = sorted(include.rglob("*.hpp"))
    must(len(headers) > 100 and include / "flymc" / "version.hpp" in headers, f"{include} has {len(headers)} headers")
    for header in headers:
        must(not PRIVATE.search(header.read_text()), f"{header} includes a header of a library that users need not have")
    source = folder / "headers.cpp"
    source.write_text("".join(f"#include <{header.relative_to(include)}>\n" for header in headers))
    return source


def check_fit(text):
    must(re.search(r"late_payments +0\.5.*passes over the data", text, re.DOTALL), f"this is no fit of the loans:\n{text}")


def check_find_package(prefix, headers, folder):
    loans, examples = SOURCE / "examples" / "data" / "loans.csv", SOURCE / "examples"
    build = folder / "build"
    ours = [f"-DCMAKE_PREFIX_PATH={prefix}", "-DCMAKE_EXPORT_NO_PACKAGE_REGISTRY=ON"]
    run("cmake", "-S", HERE, "-B", build, *ours, f"-DEXAMPLES={examples}", f"-DHEADERS={headers}")
    run("cmake", "--build", build, "--parallel", "2")
    check_fit(run(build / "fit", loans))
    check_fit(run(build / "table", loans, "defaulted"))
    if (build / "ranks").exists():
        must(run(build / "ranks") == run(prefix / "bin" / "flymc", "--version"), "the header has another version")
    # An unknown component or version is refused by name.
    for words, message in {"0.2 REQUIRED COMPONENTS nowhere": "has no component 'nowhere'",
                           "0.3 REQUIRED": "version: 0.2", "1 REQUIRED": "version: 0.2"}.items():
        project = folder / words.replace(" ", "-")
        project.mkdir()
        (project / "CMakeLists.txt").write_text(
            f"cmake_minimum_required(VERSION 3.25)\nproject(other LANGUAGES CXX)\nfind_package(flymc {words})\n")
        refusal = run("cmake", "-S", project, "-B", project / "build", *ours, expect=1)
        must(message in refusal, f"find_package(flymc {words}) says\n{refusal}")


def check_pkg_config(prefix, folder):
    if not shutil.which("pkg-config"):
        print("pkg-config is not installed; flymc.pc is not tested")
        return
    where = {**os.environ, "PKG_CONFIG_PATH": str(next(prefix.rglob("pkgconfig")))}
    flags = run("pkg-config", "--static", "--cflags", "--libs", "flymc >= 0.2", env=where).split()
    program = folder / "by-pkg-config"
    run("c++", "-std=c++20", SOURCE / "examples" / "01_logistic.cpp", "-o", program, *flags)
    check_fit(run(program, SOURCE / "examples" / "data" / "loans.csv"))


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        run("cmake", "--install", BUILD, "--prefix", folder / "first")
        # Users may move an installation.
        prefix = (folder / "first").rename(folder / "prefix")
        files = check_files(prefix)
        for name in ("man/man1/flymc.1", "bash-completion/completions/flymc", "zsh/site-functions/_flymc",
                     "fish/vendor_completions.d/flymc.fish"):
            must("overwrite" in (prefix / "share" / name).read_text(), f"{name} has no flags")
        headers = check_headers(prefix / "include", folder)
        check_fit(run(prefix / "bin" / "flymc", "fit", SOURCE / "examples" / "data" / "loans.csv", "--target",
                      "defaulted", "--out", folder / "run", "--quiet"))
        check_find_package(prefix, headers, folder)
        check_pkg_config(prefix, folder)
        print(f"{len(files)} installed files work")


main()

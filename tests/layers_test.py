"""Checks that every layer includes only layers before it, and that outsiders use public headers only.

The line of layers is the architecture: core < comm < ... < run < show. `draws` and `diagnose` see only `core`.
    layers_test.py ROOT     checks the tree at ROOT
    layers_test.py --self   plants violations in a temporary tree and checks that each is found
"""
import re

from source_rules import plant, run, sources

LINE = "core comm data model bound anchor bright kernel draws diagnose chain run show".split()
ONLY_CORE = {"draws", "diagnose"}
LIBRARIES = ("Eigen/", "unsupported/Eigen/", "Random123/", "boost/math/", "fmt/", "sanitizer/", "tbb/", "nlohmann/",
             "toml++/", "sys/")
EVERYWHERE = ("flymc/version.hpp",)  # generated, and not part of a layer
FILE_LIBRARIES = ("arrow/", "parquet/", "netcdf.h")  # only in sources in a folder `files` of a layer, not in headers
OUTSIDERS = ["cli", "python", "examples", "bench"]
INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]', re.MULTILINE)


def allowed(layer):
    if layer in ONLY_CORE:
        return {"core", layer}
    return set(LINE[: LINE.index(layer) + 1])


def violations(root):
    found = []
    for base in ("include/flymc", "src"):
        for path in sources(root / base):
            layer = path.relative_to(root / base).parts[0]
            if layer not in LINE:
                if path.name != "flymc.hpp":
                    found.append(f"{path}: lies in no layer; the layers are {' < '.join(LINE)}")
                continue
            for name in INCLUDE.findall(path.read_text()):
                if name in EVERYWHERE:
                    continue
                if name.startswith("flymc/"):
                    target = name.split("/")[1]
                    if target not in allowed(layer):
                        found.append(f"{path}: layer '{layer}' must not include '{name}'")
                elif name.startswith(FILE_LIBRARIES):
                    if base != "src" or path.parent.name != "files":
                        found.append(f"{path}: '{name}' may only be included by sources in a folder 'files'")
                elif "/" in name and not name.startswith(LIBRARIES):
                    found.append(f"{path}: '{name}' is neither a header of flymc nor of a known library")
    for folder in OUTSIDERS:
        for path in sources(root / folder):
            for name in INCLUDE.findall(path.read_text()):
                if "src/" in name:
                    found.append(f"{path}: '{name}' is not a public header")
    return found


def self_test():
    planted = {
        "include/flymc/core/bad.hpp": '#include "flymc/data/store.hpp"\n',
        "src/diagnose/bad.cpp": '#include "flymc/draws/sink.hpp"\n',
        "src/model/bad.cpp": "  #  include <flymc/bound/bound.hpp>\n",
        "src/nowhere/bad.cpp": "\n",
        "src/data/bad.cpp": "#include <arrow/api.h>\n",
        "include/flymc/data/files/bad.hpp": "#include <arrow/api.h>\n",
        "include/flymc/draws/files/bad.hpp": "#include <netcdf.h>\n",
        "src/draws/bad.cpp": "#include <netcdf.h>\n",
        "bench/bad.cpp": '#include "../src/core/secret.hpp"\n',
    }
    clean = {"src/data/files/good.cpp": "#include <arrow/api.h>\n",
             "src/core/good.cpp": '#include "flymc/version.hpp"\n',
             "src/chain/good.cpp": '#include "flymc/core/error.hpp"\n#include "flymc/diagnose/summary.hpp"\n'}
    for name, text in {**planted, **clean}.items():
        plant(violations, name, text, bad=name in planted)


if __name__ == "__main__":
    run(violations, self_test, "the layers hold")

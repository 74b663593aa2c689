"""Checks that every layer includes only layers before it, and that outsiders use public headers only.

The line of layers is the architecture: core < comm < ... < run < show. `draws` and `diagnose` see only `core`. A folder
`files` that is divided into rooms has a line of its own.
    layers_test.py ROOT     checks the tree at ROOT
    layers_test.py --self   plants violations in a temporary tree and checks that each is found
"""
import re

from source_rules import plant, run, sources

LINE = "core comm data model bound anchor bright kernel draws diagnose chain groups run show".split()
ROOMS = {"data": "table encoding store".split(),
         "run": "json settings folder reading stages predict compare check study".split()}
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


def room_of(path, base):
    """The layer and the room of a file in LAYER/files/ROOM, else None."""
    parts = path.relative_to(base).parts
    return (parts[0], parts[2]) if len(parts) == 4 and parts[1] == "files" and parts[0] in ROOMS else None


def room_of_include(name, layer):
    parts = name.split("/")
    if name.startswith("../") and len(parts) == 3:
        return parts[1]
    return parts[3] if parts[0] == "flymc" and parts[1:3] == [layer, "files"] and len(parts) == 5 else None


def rooms_out_of_order(path, base):
    here = room_of(path, base)
    if path.relative_to(base).parts[0] in ROOMS and path.parent.name == "files":
        return [f"{path}: lies in no room; the rooms are {' < '.join(ROOMS[path.relative_to(base).parts[0]])}"]
    if not here:
        return []
    layer, room = here
    line = ROOMS[layer]
    if room not in line:
        return [f"{path}: lies in no room; the rooms are {' < '.join(line)}"]
    found = []
    for name in INCLUDE.findall(path.read_text()):
        other = room_of_include(name, layer)
        if other and other not in line[: line.index(room) + 1]:
            found.append(f"{path}: room '{room}' must not include '{name}'")
    return found


def violations(root):
    found = []
    for base in ("include/flymc", "src"):
        for path in sources(root / base):
            layer = path.relative_to(root / base).parts[0]
            if layer not in LINE:
                if path.name != "flymc.hpp":
                    found.append(f"{path}: lies in no layer; the layers are {' < '.join(LINE)}")
                continue
            found += rooms_out_of_order(path, root / base)
            for name in INCLUDE.findall(path.read_text()):
                if name in EVERYWHERE:
                    continue
                if name.startswith("flymc/"):
                    target = name.split("/")[1]
                    if target not in allowed(layer):
                        found.append(f"{path}: layer '{layer}' must not include '{name}'")
                elif name.startswith(FILE_LIBRARIES):
                    if base != "src" or "files" not in path.parts:
                        found.append(f"{path}: '{name}' may only be included by sources in a folder 'files'")
                elif "/" in name and not name.startswith((*LIBRARIES, "../")):
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
        "include/flymc/data/files/table/bad.hpp": "#include <arrow/api.h>\n",
        "src/run/files/settings/bad.cpp": '#include "flymc/run/files/predict/predict.hpp"\n',
        "src/run/files/folder/bad.cpp": '#include "../stages/starts.hpp"\n',
        "src/run/files/nowhere/bad.cpp": "\n",
        "src/data/files/bad.cpp": "\n",
        "include/flymc/draws/files/bad.hpp": "#include <netcdf.h>\n",
        "src/draws/bad.cpp": "#include <netcdf.h>\n",
        "bench/bad.cpp": '#include "../src/core/secret.hpp"\n',
    }
    clean = {"src/data/files/table/good.cpp": "#include <arrow/api.h>\n",
             "src/run/files/predict/good.cpp": '#include "../folder/clock.hpp"\n#include "own.hpp"\n',
             "src/core/good.cpp": '#include "flymc/version.hpp"\n',
             "src/chain/good.cpp": '#include "flymc/core/error.hpp"\n#include "flymc/diagnose/summary.hpp"\n'}
    for name, text in {**planted, **clean}.items():
        plant(violations, name, text, bad=name in planted)


if __name__ == "__main__":
    run(violations, self_test, "the layers hold")

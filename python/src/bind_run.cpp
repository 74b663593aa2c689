// The class Run.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "arrays.hpp"
#include "bindings.hpp"
#include "run.hpp"

using namespace nanobind::literals;

namespace flymc {

void bind_run(nb::module_& m) {
  nb::class_<Run>(m, "Run", "A run on disk.")
      .def(nb::init<const std::string&>(), "path"_a, "The folder of an earlier run.")
      .def_prop_ro("path", &Run::path)
      .def_prop_ro("part", &Run::part, "The name of the part of the target that it explains; empty for the whole.")
      .def_prop_ro("heading", &Run::heading, "The part in words; empty for the whole.")
      .def_prop_ro("finished", &Run::finished)
      .def_prop_ro("settings", &Run::settings)
      .def("ingest", &Run::ingest, Free(), "The first stage.")
      .def("complete", &Run::complete, Free(), "All stages that are left. False if it was stopped.")
      .def("stop", &Run::stop, "Asks the chains to stop after their iteration.")
      .def("lines", &Run::lines, "The messages of the run since the last call.")
      .def("stage", &Run::stage,
           "Before there are chains: what is done, how much of it, of how much (0: not known), unit.")
      .def("progress", &Run::progress, "Per chain: number, in warm-up, done, of how many, bright rows, queries.")
      .def("summary", &Run::summary, "json"_a = false, "interval"_a = usual_interval, "ratios"_a = false,
           "reference_class"_a = "", Free())
      .def("check_draws", &Run::check_draws, Free(), "Raises InputError if draws.parquet does not belong to this run.")
      .def("write_draws", &Run::write_draws, "out"_a, "reference_class"_a = "", Free(),
           "The draws of what the summary has, as a Parquet file.")
      .def("write_group_effects", &Run::write_group_effects, "out"_a, "factor"_a, "interval"_a, "coefficients"_a,
           Free(), "The effects of the groups, or their own coefficients, as a Parquet or CSV file.")
      .def("variance_components", &Run::variance_components, "interval"_a, Free(),
           "Variances, correlations and shares of the variance, as JSON.")
      .def("group_pictures", &Run::group_pictures, "factor"_a, "interval"_a, "lines"_a, Free(),
           "What plots of the effects show, as JSON.")
      .def("group_names", &Run::group_names, Free(),
           "For each column of effects.arrow: its name, the factor, the effects of each group, and the groups.")
      .def(
          "log_likelihood",
          [](const Run& run, const std::vector<RowId>& rows) {
            RowMatrix values;
            {
              const nb::gil_scoped_release free;
              values = run.log_likelihood(rows);
            }
            return to_numpy(std::move(values));
          },
          "rows"_a, "A row per draw, a column per row of the table.")
      .def("check", &Run::check, "rows"_a, "draws"_a, "seed"_a, Free(),
           "Predictive checks of a sample of rows: as JSON, and as text.")
      .def("audit", &Run::audit, "draws"_a, "steps"_a, "seed"_a, Free(),
           "Tests the draws by regular MCMC on all rows; returns the result as JSON and as text.")
      .def("write_report", &Run::write_report, "out"_a, "interval"_a, Free(),
           "The run as one HTML file; returns where it is.")
      .def(
          "replicate",
          [](const Run& run, const std::vector<RowId>& rows, std::uint64_t seed) {
            Replicates drawn;
            {
              const nb::gil_scoped_release free;
              drawn = run.replicate(rows, seed);
            }
            return std::tuple(drawn.observed, to_numpy(std::move(drawn.replicated)));
          },
          "rows"_a, "seed"_a, "Targets of these rows, and those that each draw gives them: a row per draw.")
      .def("bright_rows", &Run::bright_rows, "chain"_a, "draws"_a, Free(),
           "The rows that are bright along a chain that goes on.")
      .def("origins", &Run::origins, "rows"_a, Free(), "The file of each row, and its row there, from 1.")
      .def("sample_rows", &Run::sample_rows, "count"_a, "seed"_a, Free(),
           "How many rows count, and some of them, chosen by where they came from.")
      .def("copy", &Run::copy, "path"_a, Free(), "The run once more, in a folder of its own.")
      .def("conclude", &Run::conclude, "path"_a, Free(),
           "A finished run of what this one has drawn; none if that is nothing.");
}

}  // namespace flymc

// Leave-one-out: of runs, and of terms that Python computed.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "arrays.hpp"
#include "bindings.hpp"
#include "flymc/run/files/compare/leave_one_out.hpp"
#include "run.hpp"
#include "runs.hpp"

using namespace nanobind::literals;

namespace flymc {
namespace {

std::vector<NamedRun> with_names(const std::vector<std::string>& names,
                                 const std::vector<std::vector<const Run*>>& fits) {
  std::vector<NamedRun> named;
  for (std::size_t i = 0; i < fits.size(); ++i) named.push_back({directories(fits[i]), names.at(i)});
  return named;
}
LooRows loo_rows_of(const std::vector<std::string>& names, const std::vector<std::vector<const Run*>>& fits,
                    RowId count, std::uint64_t seed) {
  return flymc::loo_rows(with_names(names, fits), count, seed);
}
LeaveOneOut leave_one_out_of(const std::vector<std::string>& names, const std::vector<std::vector<const Run*>>& fits,
                             RowId rows, std::int64_t seed) {
  LeaveOneOut out = flymc::leave_one_out(with_names(names, fits), {rows, seed});
  for (std::string& warning : out.warnings) warning = in_arguments(warning);
  return out;
}

}  // namespace

void bind_leave_one_out(nb::module_& m) {
  nb::class_<LooRows>(m, "LooRows",
                      "The rows that several runs have in common, with proxies of what leaving each out says.")
      .def_ro("rows", &LooRows::rows)
      .def_ro("totals", &LooRows::totals, "The sum of the proxies of each run.")
      .def_prop_ro(
          "squares", [](const LooRows& of) { return to_numpy(of.squares); }, nb::rv_policy::move,
          "(i, i): the sum of squares of the proxies of run i; (i, j): of the differences of two.")
      .def_ro("sampled", &LooRows::sampled, "The numbers that each run gives to the sampled rows.")
      .def_prop_ro(
          "proxies", [](const LooRows& of) { return to_numpy(of.proxies); }, nb::rv_policy::move,
          "The proxies of the sampled rows, a column per run.");
  nb::class_<SumEstimate>(m, "SumEstimate", "A sum over all rows, and its standard errors.")
      .def_ro("value", &SumEstimate::value)
      .def_ro("se", &SumEstimate::se)
      .def_ro("subsampling_se", &SumEstimate::subsampling_se);
  nb::class_<LooOfRun>(m, "LooOfRun", "How well a run predicts rows that it has not seen.")
      .def_ro("elpd", &LooOfRun::elpd)
      .def_ro("difference", &LooOfRun::difference, "The difference from the elpd of the best run.")
      .def_ro("p_loo", &LooOfRun::p_loo)
      .def_ro("good_k", &LooOfRun::good_k)
      .def_ro("rows", &LooOfRun::rows, "The sampled rows.")
      .def_ro("terms", &LooOfRun::terms, "log p(row | all other rows) for each of them.")
      .def_ro("pareto_k", &LooOfRun::pareto_k);
  nb::class_<LeaveOneOut>(m, "LeaveOneOut", "Leave-one-out of one run, or of several on their common rows.")
      .def_ro("rows", &LeaveOneOut::rows)
      .def_ro("table_rows", &LeaveOneOut::table_rows)
      .def_ro("runs", &LeaveOneOut::runs, "As they were given.")
      .def_ro("warnings", &LeaveOneOut::warnings)
      .def_prop_ro("ranks", &LeaveOneOut::ranks, "Their places in the list, the best first.");
  m.def("leave_one_out", &leave_one_out_of, "names"_a, "fits"_a, "rows"_a, "seed"_a, Free(),
        "A fit is a run, or the runs of a study.");
  m.def(
      "difference_estimate",
      [](RowId rows, double total, double squares, const std::vector<double>& proxies,
         const std::vector<double>& exact) {
        return difference_estimate({rows, total, squares}, proxies, exact);
      },
      "rows"_a, "total"_a, "squares"_a, "proxies"_a, "exact"_a,
      "A sum over all rows, of proxies of all and exact terms of some.");
  m.def("loo_rows", &loo_rows_of, "names"_a, "fits"_a, "count"_a, "seed"_a, Free(),
        "The rows of one fit, or the common rows of several.");
}

}  // namespace flymc

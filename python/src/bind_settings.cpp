// Settings, families, formulas and tables: what Python asks before there is a run.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "arrays.hpp"
#include "bindings.hpp"
#include "flymc/core/files.hpp"
#include "flymc/core/names.hpp"
#include "flymc/data/files/encoding/formula.hpp"
#include "flymc/data/files/table/source.hpp"
#include "flymc/data/files/table/table.hpp"
#include "flymc/run/files/settings/families.hpp"
#include "run.hpp"

using namespace nanobind::literals;

namespace flymc {
namespace {

// Whether targets are numbers whose mean depends on the linear predictor alone.
bool gives_mean(const FamilyCard& card) { return card.target == TargetKind::number && !card.times && !card.trials; }

}  // namespace

void bind_settings(nb::module_& m) {
  m.def(
      "settings",
      [] {
        std::map<std::string, std::string> all;
        for (const Setting& setting : all_settings()) all[setting.name] = setting.help;
        return all;
      },
      "Names of all settings, each with a line of help.");
  m.def(
      "takes_order",
      [](const std::string& family) {
        return std::ranges::any_of(all_families(), [&](const FamilyCard& card) {
          return card.name == family && card.target == TargetKind::ordered;
        });
      },
      "family"_a, "Whether the target of a family is ordered.");
  m.def(
      "families_of_means",
      [] {
        std::vector<std::string> names;
        for (const FamilyCard& card : all_families())
          if (gives_mean(card)) names.push_back(card.name);
        return names;
      },
      "Families of a number whose mean its linear predictor tells.");
  m.def(
      "means",
      [](const std::string& family, nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu> eta) {
        const FamilyCard& card = family_card(family);
        if (!gives_mean(card)) throw InputError("no mean of the family " + family);
        Settings settings;
        settings.sigma = 1.0;  // means do not depend on it
        const Model model = card.make(settings, 0, Prior::flat(), {});
        const auto of_mean = model.family().of_mean();
        RowMatrix out(static_cast<Index>(eta.size()), 1);
        (of_mean ? *of_mean : model.family()).mean({eta.data(), eta.size()}, {out.data(), eta.size()});
        return to_numpy(std::move(out));
      },
      "family"_a, "eta"_a, "Means of the target by linear predictors, one below the other.");
  m.def(
      "formula",
      [](const std::string& text, const std::vector<std::string>& others) {
        const auto but = [&](const std::string& target) {
          std::vector<std::string> out;
          for (const std::string& name : others)
            if (name != target) out.push_back(name);
          return out;
        };
        const Formula formula = others.empty() ? parse_formula(text) : parse_formula(text, but);
        std::map<std::string, std::vector<std::string>> said = {{"target", {formula.target}},
                                                                {"intercept", {formula.intercept ? "1" : "0"}},
                                                                {"columns", formula.columns()},
                                                                {"terms", {}},
                                                                {"groups", {}}};
        const auto quoted = [&](const FormulaTerm& term) {
          std::string out;
          for (const FormulaFactor& factor : term) {
            const bool levels = std::ranges::find(formula.categorical, factor.column) != formula.categorical.end();
            const std::string name = "`" + factor.column + "`";
            out += (out.empty() ? "" : ":") +
                   (levels ? "C(" + name + ")" : FormulaFactor{name, factor.function, factor.power}.text());
          }
          return out;
        };
        std::string written = "`" + formula.target + "` ~ " + (formula.intercept ? "1" : "0");
        for (const FormulaTerm& term : formula.terms) {
          std::string name;
          for (const FormulaFactor& factor : term) name += (name.empty() ? "" : ":") + factor.text();
          said["terms"].push_back(name);
          written += " + " + quoted(term);
        }
        for (const FormulaGroups& groups : formula.groups) {
          written += groups.intercept ? " + (1" : " + (0";
          for (const FormulaTerm& slope : groups.slopes) written += " + " + quoted(slope);
          written += groups.correlated ? " | " : " || ";
          std::string names;
          for (const std::string& column : groups.columns) {
            names += (names.empty() ? "`" : ":`") + column + "`";
            if (std::ranges::find(said["groups"], column) == said["groups"].end()) said["groups"].push_back(column);
          }
          written += names + ")";
        }
        said["text"] = {written};
        return said;
      },
      "text"_a, "others"_a,
      "The target of a formula, its intercept (1 or 0), its columns, the names of its terms, and the columns of its "
      "groups; `.` stands for the others. "
      "An InputError if it is not one that is read while the table streams.");
  m.def(
      "did_you_mean",
      [](const std::string& name, const std::vector<std::string>& known) { return did_you_mean(name, known); },
      "name"_a, "known"_a, "The end of a message about a misspelt name: the names that it may mean, or all.");
  m.def("place_and_key", &place_and_key, "path"_a,
        "The place of an object in a store, as an address that ends in the key 'x', and the key of the object.");
  m.def(
      "table_files",
      [](const std::vector<std::string>& paths, const std::optional<std::string>& delimiter) {
        TableOptions options;
        if (delimiter && !delimiter->empty()) options.delimiter = *delimiter == "\\t" ? '\t' : delimiter->front();
        return Table::open(paths, options).files();
      },
      "paths"_a, "delimiter"_a = nb::none(), Free(),
      "The files of a table, in order. An InputError if they are not those of one table.");
}

}  // namespace flymc

// The list of settings, their checks, and their file.
#include "flymc/run/files/settings.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <cmath>
#include <fstream>

#include "flymc/core/error.hpp"
#include "flymc/core/mention.hpp"
#include "flymc/core/names.hpp"
#include "flymc/model/prior_terms.hpp"
#include "flymc/run/files/families.hpp"

namespace flymc {
namespace {

using Group = Setting::Group;
using Kind = Setting::Kind;
using Words = std::vector<std::string>;

template <class Number>
Number parse(const std::string& name, const std::string& text) {
  Number value{};
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc::result_out_of_range)
    throw InputError(fmt::format("{}: {} is too large", mention(name), text));
  if (error != std::errc() || stop != end)
    throw InputError(fmt::format("{}: '{}' is not a {}{}", mention(name), on_one_line(text),
                                 std::is_integral_v<Number> ? "whole number" : "number",
                                 std::is_unsigned_v<Number> && text.starts_with('-') ? " of 0 or more" : ""));
  return value;
}

const std::string& only(const std::string& name, const Words& words) {
  if (words.size() != 1)
    throw InputError(fmt::format("{}: one value is needed, {} are given", mention(name), words.size()));
  return words[0];
}

// `member` is a function from Settings to a reference, for both const and not.
template <class Member>
Setting text(std::string name, std::string shape, Group group, std::string help, Member member) {
  return {name,
          std::move(shape),
          std::move(help),
          Kind::word,
          group,
          [name, member](Settings& s, const Words& words) { member(s) = only(name, words); },
          [member](const Settings& s) { return member(s).empty() ? Words{} : Words{member(s)}; }};
}

// The name of a column. A variable of a shell that is empty is not the wish for none.
template <class Member>
Setting column(std::string name, std::string shape, Group group, std::string help, Member member) {
  Setting out = text(name, std::move(shape), group, std::move(help), member);
  out.set = [name, member](Settings& s, const Words& words) {
    member(s) = only(name, words);
    if (member(s).empty()) throw InputError(fmt::format("{}: name a column", mention(name)));
  };
  return out;
}

template <class Member>
Setting list(std::string name, std::string shape, Group group, std::string help, Member member) {
  return {std::move(name),
          std::move(shape),
          std::move(help),
          Kind::list,
          group,
          [member](Settings& s, const Words& words) { member(s) = words; },
          [member](const Settings& s) { return member(s); }};
}

template <class Member>
Setting flag(std::string name, Group group, std::string help, Member member) {
  return {name,
          "",
          std::move(help),
          Kind::flag,
          group,
          [name, member](Settings& s, const Words& words) {
            const std::string& word = only(name, words);
            if (word != "true" && word != "false")
              throw InputError(fmt::format("{}: '{}' is neither true nor false", mention(name), word));
            member(s) = word == "true";
          },
          [member](const Settings& s) { return Words{member(s) ? "true" : "false"}; }};
}

template <class Member>
Setting number(std::string name, std::string shape, Group group, std::string help, Member member) {
  return {name,
          std::move(shape),
          std::move(help),
          Kind::word,
          group,
          [name, member](Settings& s, const Words& words) {
            using Number = std::remove_cvref_t<decltype(member(s))>;
            member(s) = parse<Number>(name, only(name, words));
          },
          [member](const Settings& s) { return Words{fmt::format("{}", member(s))}; }};
}

// One of a few words, in the order of the enumeration's values, or `auto`, which leaves it to the program.
template <class Member>
Setting choice(std::string name, Group group, std::string help, std::span<const std::string_view> words,
               Member member) {
  std::string shape = "auto";
  for (const std::string_view word : words) shape += fmt::format("|{}", word);
  return {name,
          shape,
          std::move(help),
          Kind::word,
          group,
          [=](Settings& s, const Words& given) {
            using Enum = typename std::remove_cvref_t<decltype(member(s))>::value_type;
            member(s) = std::nullopt;
            if (only(name, given) == "auto") return;
            const auto found = std::find(words.begin(), words.end(), given[0]);
            if (found == words.end())
              throw InputError(fmt::format("{}: '{}' is none of {}", mention(name), given[0], shape));
            member(s) = static_cast<Enum>(found - words.begin());
          },
          [=](const Settings& s) {
            return Words{member(s) ? std::string(words[static_cast<std::size_t>(*member(s))]) : "auto"};
          }};
}

std::vector<Setting> make_settings() {
  std::vector<Setting> all;
  // Rows.
  all.push_back(list(
      "table", "FILES", Group::record, "the table: files, globs or folders", [](auto& s) -> auto& { return s.table; }));
  all.push_back(text(
      "target", "COLUMN", Group::rows, "the column to explain", [](auto& s) -> auto& { return s.target; }));
  all.push_back(list(
      "columns", "A,B,...", Group::rows, "the columns that explain it (default: all others)",
      [](auto& s) -> auto& { return s.columns; }));
  all.push_back(list(
      "exclude", "A,B,...", Group::rows, "columns to leave out", [](auto& s) -> auto& { return s.exclude; }));
  all.push_back(list(
      "categorical", "A,B,...", Group::rows, "columns of numbers that are names of levels",
      [](auto& s) -> auto& { return s.categorical; }));
  all.push_back(column(
      "weights", "COLUMN", Group::rows, "how many times a row counts (default: once)",
      [](auto& s) -> auto& { return s.weights; }));
  all.push_back(column(
      "offset", "COLUMN", Group::rows, "a number that is added to the row's linear predictor",
      [](auto& s) -> auto& { return s.offset; }));
  all.push_back(text(
      "positive", "LEVEL", Group::rows, "logistic: the target's level that counts as 1",
      [](auto& s) -> auto& { return s.positive; }));
  all.push_back(text(
      "missing", "error|drop", Group::rows, "rows with a missing value: refuse (default) or drop",
      [](auto& s) -> auto& { return s.missing; }));
  all.push_back(text(
      "delimiter", "CHAR", Group::rows, "between the fields of CSV files (default: a comma)",
      [](auto& s) -> auto& { return s.delimiter; }));
  all.push_back(flag(
      "no-intercept", Group::rows, "no column of ones", [](auto& s) -> auto& { return s.no_intercept; }));
  all.push_back(flag(
      "standardise", Group::rows, "centre and scale numeric columns; results stay on their own scale",
      [](auto& s) -> auto& { return s.standardise; }));
  all.push_back(flag(
      "float32", Group::rows, "keep features in single precision: half the memory",
      [](auto& s) -> auto& { return s.float32; }));
  // Model.
  all.push_back(text(
      "family", family_names("|"), Group::model,
      fmt::format("the likelihood of a row (default: {})", Settings().family),
      [](auto& s) -> auto& { return s.family; }));
  all.push_back(number(
      "nu", "N", Group::model, "student_t: degrees of freedom (default: 4)", [](auto& s) -> auto& { return s.nu; }));
  all.push_back(number(
      "sigma", "S", Group::model, "student_t: scale of the residuals (needed)",
      [](auto& s) -> auto& { return s.sigma; }));
  all.push_back({"prior", "PRIOR",
                 fmt::format("of coefficients (default: '{}'); one apart: '...; age: flat'", prior_of({})), Kind::word,
                 Group::sampling, [](Settings& s, const Words& words) { s.prior = only("prior", words); },
                 // A run's file says it, given or not.
                 [](const Settings& s) { return Words{prior_of(s)}; }});
  // Sampling.
  all.push_back(number(
      "chains", "N", Group::sampling, "number of chains (default: 4)", [](auto& s) -> auto& { return s.fit.chains; }));
  all.push_back(number(
      "warmup", "N", Group::sampling, "most iterations before the first draw (default: 1000)",
      [](auto& s) -> auto& { return s.fit.warmup; }));
  all.push_back(number(
      "draws", "N", Group::sampling, "draws per chain (default: 1000)", [](auto& s) -> auto& { return s.fit.draws; }));
  all.push_back(number(
      "thin", "N", Group::chains, "iterations per draw (default: 1)", [](auto& s) -> auto& { return s.fit.thin; }));
  all.push_back(number(
      "target-ess", "N", Group::sampling, "go on, up to 100 x draws, until every ESS is N at two checks",
      [](auto& s) -> auto& { return s.target_ess; }));
  all.push_back(number(
      "seed", "N", Group::sampling, "of the random numbers (default: 1)", [](auto& s) -> auto& { return s.fit.seed; }));
  all.push_back(number(
      "threads", "N", Group::sampling, "0: all cores (default); draws do not depend on it",
      [](auto& s) -> auto& { return s.fit.threads; }));
  all.push_back(choice(
      "move", Group::chains, "how theta moves (default: auto, split_hmc)", move_names,
      [](auto& s) -> auto& { return s.fit.move; }));
  all.push_back(choice(
      "sweep", Group::chains, "how z is resampled (default: auto, by rows)", sweep_names,
      [](auto& s) -> auto& { return s.fit.sweep; }));
  all.push_back(choice(
      "bound", Group::preparation, "what stands for dark rows (default: auto, sharp)", bound_names,
      [](auto& s) -> auto& { return s.fit.bound; }));
  all.push_back(
      {"lit", "none|auto|VARIANCE",
       "rows that are always evaluated: by cost (default: auto), or those with a linear predictor of more variance",
       Kind::word, Group::preparation,
       [](Settings& s, const Words& words) {
         const std::string& word = only("lit", words);
         if (word == "auto") {
           s.fit.lit = {.automatic = true};
           return;
         }
         s.fit.lit = {.above = word == "none" ? HUGE_VAL : parse<double>("lit", word)};
         if (!(s.fit.lit.above >= 0.0)) throw InputError(fmt::format("lit: a variance is 0 or more, not {}", word));
       },
       [](const Settings& s) {
         if (s.fit.lit.automatic) return Words{"auto"};
         return Words{std::isfinite(s.fit.lit.above) ? fmt::format("{}", s.fit.lit.above) : "none"};
       }});
  all.push_back(flag(
      "regular", Group::preparation, "regular MCMC, for comparison: every row in every step",
      [](auto& s) -> auto& { return s.fit.regular; }));
  all.push_back(number(
      "checkpoint-seconds", "S", Group::chains, "between checkpoints (default: 30)",
      [](auto& s) -> auto& { return s.checkpoint_seconds; }));
  all.push_back(text(
      "from", "RUN", Group::record, "the run whose rows and bound are used", [](auto& s) -> auto& { return s.from; }));
  return all;
}

// As TOML: literal strings, so that backslashes need no care; a basic string where there is a quote.
std::string quoted(const std::string& word) {
  if (std::any_of(word.begin(), word.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 && c != '\t'; }))
    throw InputError(fmt::format("'{}' has a control character in it; rename it", on_one_line(word)));
  if (word.find('\'') == std::string::npos) return "'" + word + "'";
  if (word.find('"') == std::string::npos) return '"' + word + '"';
  throw InputError(fmt::format("{} has both kinds of quotes; rename it", word));
}

bool is_bare(const std::string& word) {
  if (word == "true" || word == "false") return true;
  double value = 0.0;
  const auto [stop, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  return error == std::errc() && stop == word.data() + word.size() && std::isfinite(value);
}

// Parameters of other families must not be given, and those that the family needs must be.
void check_parameters(const Settings& settings, const FamilyCard& own) {
  const Settings usual;
  const auto given = [&](const FamilyParameter& p) { return settings.*p.value != usual.*p.value; };
  const auto is_own = [&](const FamilyParameter& p) {
    return std::any_of(own.parameters.begin(), own.parameters.end(), [&](const auto& q) { return q.name == p.name; });
  };
  for (const FamilyCard& card : all_families()) {
    std::string names;
    bool misplaced = false;
    for (const FamilyParameter& parameter : card.parameters) {
      names += (names.empty() ? "" : ", ") + mention(parameter.name);
      misplaced = misplaced || (given(parameter) && !is_own(parameter));
    }
    if (misplaced)
      throw InputError(fmt::format("{}: only for the {} family, and this is {}", names, card.name, own.name));
  }
  for (const FamilyParameter& parameter : own.parameters)
    if (!parameter.needed.empty() && !given(parameter))
      throw InputError(fmt::format("{}: {}", mention(parameter.name), parameter.needed));
}

}  // namespace

const std::vector<Setting>& all_settings() {
  static const std::vector<Setting> all = make_settings();
  return all;
}

const Setting* find_setting(const std::string& name) {
  const auto found = std::ranges::find(all_settings(), name, &Setting::name);
  return found == all_settings().end() ? nullptr : &*found;
}

bool is_argument(const std::string& name) {
  static const std::vector<std::string> names = {"out", "interval", "kind", "odds-ratios", "q", "s", "resample-fraction"};
  return std::ranges::find(names, name) != names.end();
}

void check(const Settings& settings) {
  check(settings.fit);
  const FamilyCard& card = family_card(settings.family);
  if (settings.missing != "error" && settings.missing != "drop")
    throw InputError(fmt::format("{}: '{}' is neither error nor drop", mention("missing"), settings.missing));
  if (settings.delimiter.size() > 1 && settings.delimiter != "\\t")
    throw InputError(fmt::format("{}: '{}' is not one character", mention("delimiter"), settings.delimiter));
  if (!settings.positive.empty() && card.target != TargetKind::two_classes)
    throw InputError(fmt::format("{}: only the {} family has a level that counts as 1", mention("positive"),
                                 family_names(" or ", TargetKind::two_classes)));
  check_parameters(settings, card);
  if (!(settings.target_ess >= 0.0)) throw InputError(mention("target-ess") + " must be 0 or more");
  if (!(settings.checkpoint_seconds >= 0.0)) throw InputError(mention("checkpoint-seconds") + " must be 0 or more");
  if (settings.standardise && settings.no_intercept)
    throw InputError(
        fmt::format("{}: centred columns need an intercept; drop {}", mention("standardise"), mention("no-intercept")));
  const bool only_differences = make_model(settings, 2).family().only_differences();
  if (only_differences && !settings.offset.empty())
    throw InputError(
        fmt::format("{}: {} depends on differences between classes alone, and an offset that all of "
                    "them have changes nothing; leave it out",
                    mention("offset"), card.name));
  if (only_differences && !PriorTerms::parse(prior_of(settings)).proper())
    throw InputError(
        fmt::format("{}: {} has no posterior under a flat prior, since adding a number to all classes "
                    "changes nothing; use a proper one, such as {}",
                    mention("prior"), card.name, card.prior));
}

std::string prior_of(const Settings& settings) {
  return settings.prior ? *settings.prior : family_card(settings.family).prior;
}

Model make_model(const Settings& settings, int classes, std::span<const std::string> coefficients) {
  const PriorTerms terms = PriorTerms::parse(prior_of(settings));
  return family_card(settings.family)
      .make(settings, classes, coefficients.empty() ? terms.others() : terms.of(coefficients));
}

std::string to_toml(const Settings& settings) {
  std::string out = "# Settings of a flymc run; `flymc fit --config` takes them.\n";
  for (const Setting& setting : all_settings()) {
    const Words words = setting.get(settings);
    if (words.empty()) continue;
    std::string value;
    for (const std::string& word : words)
      value += (value.empty() ? "" : ", ") + (setting.kind != Kind::list && is_bare(word) ? word : quoted(word));
    out += fmt::format(fmt::runtime(setting.kind == Kind::list ? "{} = [{}]\n" : "{} = {}\n"), setting.name, value);
  }
  return out;
}

void read_toml(const std::filesystem::path& path, Settings& settings) {
  std::ifstream in(path);
  // A folder opens, and reads as if it were empty.
  std::error_code unknown;
  if (!in || std::filesystem::is_directory(path, unknown))
    throw InputError(fmt::format("{}: the settings cannot be read; check the name and its permissions", path.string()));
  std::vector<CLI::ConfigItem> items;
  try {
    items = CLI::ConfigTOML().from_config(in);
  } catch (const CLI::Error& error) {
    throw InputError(
        fmt::format("{}: is not TOML ({}); a line is NAME = VALUE", path.string(), on_one_line(error.what())));
  }
  for (const CLI::ConfigItem& item : items) {
    const Setting* const found = find_setting(item.name);
    if (!item.parents.empty())
      throw InputError(fmt::format("{}: settings stand under no heading; remove [{}]", path.string(),
                                   on_one_line(item.parents.front())));
    if (found == nullptr) {
      Words names;
      for (const Setting& setting : all_settings()) names.push_back(setting.name);
      const std::string meant = closest(item.name, names);
      throw InputError(
          fmt::format("{}: there is no setting '{}'; {}", path.string(), on_one_line(item.name),
                      meant.empty() ? "a line is NAME = VALUE, and the reference lists the names" : meant));
    }
    try {
      found->set(settings, item.inputs);
    } catch (const InputError& error) {
      // In the file a setting is called by its name.
      const auto name = [](const Mention& mention) { return mention.name; };
      throw InputError(fmt::format("{}: {}", path.string(), spelled(error.what(), name)));
    }
  }
}

}  // namespace flymc

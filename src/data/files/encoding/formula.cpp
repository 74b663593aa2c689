// Formulas are read from left to right, by a function for each kind of operator: + and -, then *, then :, then ^.
#include "flymc/data/files/encoding/formula.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "flymc/core/error.hpp"
#include "flymc/core/mention.hpp"
#include "flymc/core/names.hpp"

namespace flymc {
namespace {

constexpr std::array<std::pair<std::string_view, NumberFunction>, 6> functions = {{{"log", NumberFunction::log},
                                                                                   {"log2", NumberFunction::log2},
                                                                                   {"log10", NumberFunction::log10},
                                                                                   {"log1p", NumberFunction::log1p},
                                                                                   {"exp", NumberFunction::exp},
                                                                                   {"sqrt", NumberFunction::sqrt}}};
constexpr int most_power = 9;
constexpr int most_depth = 100;  // the parser is recursive
constexpr std::size_t most_terms = 100000;

using Terms = std::vector<FormulaTerm>;

FormulaTerm product(FormulaTerm a, const FormulaTerm& b) {
  for (const FormulaFactor& factor : b)
    if (std::ranges::find(a, factor) == a.end()) a.push_back(factor);
  return a;
}

// A name may have letters of any alphabet, digits, _ and dots.
bool begins_name(char c) {
  const auto u = static_cast<unsigned char>(c);
  return std::isalpha(u) || c == '_' || c == '.' || u >= 0x80;
}
bool in_name(char c) { return begins_name(c) || std::isdigit(static_cast<unsigned char>(c)); }

class Parser {
 public:
  // `not_others` are columns that `.` does not stand for, although they are there.
  Parser(const std::string& text, const std::function<std::vector<std::string>(const std::string&)>& others,
         std::set<std::string> not_others = {})
      : text_(text), others_(others), not_others_(std::move(not_others)) {}

  Formula parse() {
    if (text_.find('~') == std::string::npos)
      fail(0, "there is no ~ in it; write the target, ~ and what explains it, as in 'late ~ distance + hour'");
    read_target();
    formula_.terms = sum(&formula_.intercept);
    skip();
    if (at_ < text_.size()) unexpected();
    std::ranges::stable_sort(formula_.terms, {}, &FormulaTerm::size);
    for (const FormulaTerm& term : formula_.terms)
      for (const FormulaFactor& factor : term) check(factor);
    for (const FormulaGroups& groups : formula_.groups)
      for (const FormulaTerm& slope : groups.slopes)
        for (const FormulaFactor& factor : slope) check(factor);
    return std::move(formula_);
  }

 private:
  [[noreturn]] void fail(std::size_t at, const std::string& what) const {
    if (at == 0) throw InputError(fmt::format("{} '{}': {}", mention("formula"), on_one_line(text_, 200), what));
    throw InputError(fmt::format("{} '{}', at '{}' (character {}): {}", mention("formula"), on_one_line(text_, 200),
                                 on_one_line(std::string_view(text_).substr(at, 20)), at + 1, what));
  }

  void skip() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }
  bool next_is(std::string_view sign) {
    skip();
    return std::string_view(text_).substr(at_).starts_with(sign);
  }
  bool take(std::string_view sign) {
    if (!next_is(sign)) return false;
    at_ += sign.size();
    return true;
  }
  // ^ and ** are the same.
  bool take_power() { return take("^") || take("**"); }
  bool take_times() { return !next_is("**") && take("*"); }

  [[noreturn]] void unexpected() {
    skip();
    if (at_ >= text_.size())
      throw InputError(
          fmt::format("{} '{}' ends where a column should be named", mention("formula"), on_one_line(text_, 200)));
    const char c = text_[at_];
    if (c == '|')
      fail(at_, "effects of groups stand in parentheses by themselves, as in late ~ distance + (1 | carrier)");
    if (c == '%') fail(at_, "%in% is not known here; write a + a:b for b within a");
    if (c == '/') fail(at_, "'/' is not known here; write a + a:b for a/b");
    if (c == '~') fail(at_, "there is a second ~; write one");
    if (c == ')') fail(at_, "this ) closes nothing; leave it out");
    fail(at_, "an operator is one of + - : * ^; a name that has other signs in it stands in backticks");
  }

  // A name, in backticks or not; empty if there is none.
  std::optional<std::string> name() {
    skip();
    const std::size_t begin = at_;
    if (take("`")) {
      const std::size_t end = text_.find('`', at_);
      if (end == std::string::npos) fail(begin, "the backtick is not closed");
      std::string out = text_.substr(at_, end - at_);
      if (out.empty()) fail(begin, "there is no name between the backticks");
      at_ = end + 1;
      return out;
    }
    if (at_ >= text_.size() || !begins_name(text_[at_])) return std::nullopt;
    while (at_ < text_.size() && in_name(text_[at_])) ++at_;
    return text_.substr(begin, at_ - begin);
  }

  void read_target() {
    const std::optional<std::string> target = name();
    const std::size_t begin = at_;
    if (!target || *target == ".") fail(begin, "the left side names the target, one column");
    if (!take("~"))
      fail(begin, fmt::format("the left side is the name of a column by itself{}",
                              next_is("(") ? "; a function of the target is a column that the table should have" : ""));
    formula_.target = *target;
  }

  // Adds terms after + and removes terms after -. `intercept` is given where a 1 or 0 stands for one: on the whole right
  // side, and to the left of a |.
  Terms sum(bool* intercept) {
    const bool whole = intercept == &formula_.intercept;
    Terms all;
    bool minus = take("-");
    if (!minus) take("+");
    do {
      skip();
      const std::size_t begin = at_;
      if (const auto number = whole_number()) {
        if (intercept == nullptr)
          fail(begin, "a number stands for the intercept, which is no part of terms in parentheses");
        if (*number > 1) fail(begin, "a number is 1 or 0, with or without an intercept");
        *intercept = minus ? *number == 0 : *number == 1;
        continue;
      }
      if (whole && has_bar(at_)) {
        if (minus) fail(begin, "effects of groups cannot be left out by -; leave them out of the formula");
        read_groups();
        continue;
      }
      for (FormulaTerm& term : crossing()) {
        const auto found = std::ranges::find_if(all, [&](const FormulaTerm& other) { return same_term(term, other); });
        if (!minus) {
          if (found == all.end()) all.push_back(std::move(term));
          continue;
        }
        if (found != all.end())
          all.erase(found);
        else if (others_ && !(term.size() == 1 && not_others_.contains(term.front().column)))
          fail(begin, "this is to be left out, and is not there; name what is, or leave it out of the formula");
      }
      check_count(begin, all);
    } while (take_sign(minus));
    return all;
  }
  bool take_sign(bool& minus) {
    if (take("+")) {
      minus = false;
      return true;
    }
    minus = take("-");
    return minus;
  }
  void check_count(std::size_t begin, const Terms& terms) const {
    if (terms.size() > most_terms) fail(begin, "these are too many terms; write fewer");
  }

  // a*b is a + b + a:b.
  Terms crossing() {
    Terms all = interaction();
    while (take_times()) all = crossed(all, interaction());
    return all;
  }
  Terms crossed(const Terms& a, const Terms& b) const {
    Terms out = a;
    for (const FormulaTerm& term : b) add(out, term);
    for (const FormulaTerm& term : interacting(a, b)) add(out, term);
    return out;
  }
  static void add(Terms& all, const FormulaTerm& term) {
    if (std::ranges::none_of(all, [&](const FormulaTerm& other) { return same_term(term, other); }))
      all.push_back(term);
  }

  // Whether a ( stands at `begin` that has a | of its own in it.
  bool has_bar(std::size_t begin) const {
    int open = 0;
    bool quoted = false;
    for (std::size_t i = begin; i < text_.size(); ++i) {
      const char c = text_[i];
      if (c == '`') quoted = !quoted;
      if (quoted) continue;
      if (c == '(') ++open;
      if (c == ')') --open;
      if (open == 0) return false;
      if (c == '|' && open == 1) return true;
    }
    return false;
  }
  void read_groups() {
    const std::size_t begin = at_;
    take("(");
    FormulaGroups groups;
    in_groups_ = true;
    groups.slopes = sum(&groups.intercept);
    in_groups_ = false;
    groups.correlated = !take("||");
    if (groups.correlated && !take("|")) unexpected();
    if (!groups.intercept && groups.slopes.empty())
      fail(begin, "these groups have no effects: write 1 for an intercept of each group");
    // a/b is a and a:b.
    std::vector<std::vector<std::string>> factors = {{}};
    do {
      do factors.back().push_back(group_column());
      while (take(":"));
      if (!next_is("/")) break;
      factors.push_back(factors.back());
    } while (take("/"));
    if (next_is("+")) fail(at_, "write effects of each by themselves: (1 | a) + (1 | b)");
    if (!take(")")) close(begin);
    for (std::vector<std::string>& columns : factors) {
      groups.columns = std::move(columns);
      check_new(groups, begin);
      formula_.groups.push_back(groups);
    }
  }
  std::string group_column() {
    skip();
    const std::size_t begin = at_;
    std::optional<std::string> column = name();
    if (!column || *column == ".") fail(begin, "the name of a column follows the |, whose values are the groups");
    if (next_is("(")) fail(begin, "the groups are the values of a column; make other columns in the table");
    if (*column == formula_.target) fail(begin, "this is the target, which cannot explain itself");
    if (std::ranges::find(formula_.categorical, *column) == formula_.categorical.end())
      formula_.categorical.push_back(*column);
    grouped_.insert(*column);
    return *column;
  }
  void check_new(const FormulaGroups& groups, std::size_t begin) const {
    const std::set<std::string> columns(groups.columns.begin(), groups.columns.end());
    if (columns.size() < groups.columns.size()) fail(begin, "a column is named twice after the |; name it once");
    for (const FormulaGroups& other : formula_.groups) {
      if (std::set<std::string>(other.columns.begin(), other.columns.end()) != columns) continue;
      const bool again =
          (groups.intercept && other.intercept) || std::ranges::any_of(groups.slopes, [&](const FormulaTerm& slope) {
            return std::ranges::any_of(other.slopes, [&](const FormulaTerm& its) { return same_term(slope, its); });
          });
      if (again)
        fail(begin,
             fmt::format("the groups of '{}' have the same effect in another term; write it once", groups.name()));
    }
  }

  Terms interaction() {
    Terms all = power();
    while (take(":")) all = interacting(all, power());
    return all;
  }
  Terms interacting(const Terms& a, const Terms& b) const {
    Terms out;
    if (a.size() * b.size() > most_terms) fail(at_, "these are too many terms; write fewer");
    if (a.size() == 1 && b.size() == 1 && same_term(a.front(), b.front()))
      fail(at_, "a term times itself is the term again; write I(x^2) for the square of a number");
    for (const FormulaTerm& left : a)
      for (const FormulaTerm& right : b) add(out, product(left, right));
    return out;
  }

  Terms power() {
    skip();
    const std::size_t begin = at_;
    const bool group = next_is("(");
    Terms all = primary();
    const bool dot = text_.substr(begin, at_ - begin) == ".";
    if (!take_power()) return all;
    if (!group && !dot)
      fail(begin, "in formulas ^ is for interactions, as in (a + b)^2; write I(x^2) for the power of a number");
    const auto times = whole_number();
    if (!times || *times < 1 || *times > most_power)
      fail(begin, fmt::format("a whole number from 1 to {} follows the ^", most_power));
    const Terms once = all;
    for (int i = 1; i < *times; ++i) all = crossed(all, once);
    return all;
  }

  Terms primary() {
    skip();
    const std::size_t begin = at_;
    if (take("(")) {
      if (++depth_ > most_depth)
        fail(begin, fmt::format("parentheses are nested more than {} deep; write fewer", most_depth));
      if (has_bar(begin)) fail(begin, "effects of groups stand by themselves, after a +");
      Terms all = sum(nullptr);
      if (!take(")")) close(begin);
      --depth_;
      return all;
    }
    const bool quoted = next_is("`");
    const std::optional<std::string> word = name();
    if (!word) unexpected();
    if (!quoted && *word == ".") {
      if (in_groups_) fail(begin, "slopes of groups are named one by one");
      Terms all;
      if (others_)
        for (const std::string& column : others_(formula_.target))
          if (!not_others_.contains(column)) all.push_back({{column}});
      return all;
    }
    if (quoted || !next_is("(")) {
      if (*word == formula_.target) fail(begin, "this is the target, which cannot explain itself");
      plain_.insert(*word);
      return {{{*word}}};
    }
    return {{of_function(*word, begin)}};
  }
  [[noreturn]] void close(std::size_t begin) {
    skip();
    if (at_ < text_.size()) unexpected();
    fail(begin, "this ( is not closed");
  }

  FormulaFactor of_function(const std::string& word, std::size_t begin) {
    const auto found = std::ranges::find(functions, std::string_view(word), [](const auto& f) { return f.first; });
    const bool levels = word == "C" || word == "factor", as_is = word == "I";
    if (found == functions.end() && !levels && !as_is) refuse_function(word, begin);
    take("(");
    const std::optional<std::string> column = name();
    if (!column || *column == ".")
      fail(begin, fmt::format("{}() takes the name of a column{}", word, as_is ? " and its power, I(x^2)" : ""));
    if (*column == formula_.target) fail(begin, "this is the target, which cannot explain itself");
    FormulaFactor factor{*column};
    if (as_is) {
      const auto power = take_power() ? whole_number() : std::nullopt;
      if (!power || *power < 2 || *power > most_power)
        fail(begin, fmt::format("I() takes a power from 2 to {} of a column, I(x^2); make other columns in the table",
                                most_power));
      factor.function = NumberFunction::power;
      factor.power = *power;
    } else if (!levels) {
      factor.function = found->second;
    }
    if (levels && next_is(","))
      fail(begin,
           fmt::format("C() takes the name of a column alone; say with which level the others are compared by {}",
                       mention("reference", *column + "=LEVEL")));
    if (!take(")"))
      fail(begin, fmt::format("{}() takes the name of a column alone; make other columns in the table", word));
    if (levels && std::ranges::find(formula_.categorical, *column) == formula_.categorical.end())
      formula_.categorical.push_back(*column);
    if (!levels) plain_.insert(*column);
    return factor;
  }
  [[noreturn]] void refuse_function(const std::string& word, std::size_t begin) const {
    if (word == "offset")
      fail(begin, fmt::format("an offset is named apart from the formula, by {}", mention("offset", "COLUMN")));
    std::string known = "C, factor, I";
    for (const auto& [function, number] : functions) known += fmt::format(", {}", function);
    const bool curve = word == "bs" || word == "ns" || word == "s" || word == "poly" || word == "cr" || word == "cs" ||
                       word == "cc" || word == "te";
    fail(begin,
         fmt::format("there is no function '{}'{}; there are {}", word,
                     curve ? ": curves are fitted from Python and R, or as columns of the table, or by powers, x "
                             "+ I(x^2)"
                           : "",
                     known));
  }

  std::optional<int> whole_number() {
    skip();
    int value = 0;
    const auto [stop, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (error != std::errc()) return std::nullopt;
    if (stop != text_.data() + text_.size() && in_name(*stop))
      fail(at_, "a name that begins with a digit stands in backticks, and numbers are whole");
    at_ = static_cast<std::size_t>(stop - text_.data());
    return value;
  }

  void check(const FormulaFactor& factor) const {
    const bool levels = std::ranges::find(formula_.categorical, factor.column) != formula_.categorical.end();
    if (grouped_.contains(factor.column) && plain_.contains(factor.column))
      throw InputError(
          fmt::format("{} '{}': the values of '{}' are names of groups after a |, and it stands by itself in another "
                      "place; write C({}) there for a coefficient of each, or give the table a copy of the column",
                      mention("formula"), on_one_line(text_, 200), factor.column, factor.column));
    if (levels && plain_.contains(factor.column))
      throw InputError(
          fmt::format("{} '{}': '{}' stands in C() in one place and not in another, and a column is either numbers or "
                      "names of levels; write C({}) everywhere, or give the table a copy of the column",
                      mention("formula"), on_one_line(text_, 200), factor.column, factor.column));
  }

  const std::string& text_;
  const std::function<std::vector<std::string>(const std::string&)>& others_;
  const std::set<std::string> not_others_;
  std::size_t at_ = 0;
  int depth_ = 0;  // of open parentheses
  Formula formula_;
  bool in_groups_ = false;       // to the left of a |
  std::set<std::string> plain_;  // columns that occur outside of C()
  std::set<std::string> grouped_;
};

}  // namespace

std::string FormulaFactor::text() const {
  if (function == NumberFunction::identity) return column;
  if (function == NumberFunction::power) return fmt::format("I({}^{})", column, power);
  for (const auto& [word, number] : functions)
    if (number == function) return fmt::format("{}({})", word, column);
  return column;
}

std::string FormulaGroups::name() const { return joined(columns, ":"); }

bool same_term(const FormulaTerm& a, const FormulaTerm& b) {
  return a.size() == b.size() &&
         std::ranges::all_of(a, [&](const FormulaFactor& factor) { return std::ranges::find(b, factor) != b.end(); });
}

std::vector<std::string> Formula::columns() const {
  std::vector<std::string> out;
  std::set<std::string_view> seen;
  for (const FormulaTerm& term : terms)
    for (const FormulaFactor& factor : term)
      if (seen.insert(factor.column).second) out.push_back(factor.column);
  return out;
}

Formula parse_formula(const std::string& text,
                      const std::function<std::vector<std::string>(const std::string& target)>& others) {
  Formula formula = Parser(text, others).parse();
  if (!others || formula.groups.empty()) return formula;
  // `.` does not stand for columns of groups, which are known when all has been read.
  std::set<std::string> grouped;
  for (const FormulaGroups& groups : formula.groups) grouped.insert(groups.columns.begin(), groups.columns.end());
  return Parser(text, others, std::move(grouped)).parse();
}

double value_of(NumberFunction function, int power, double x) {
  switch (function) {
    case NumberFunction::log:
      return x > 0.0 ? std::log(x) : NAN;
    case NumberFunction::log2:
      return x > 0.0 ? std::log2(x) : NAN;
    case NumberFunction::log10:
      return x > 0.0 ? std::log10(x) : NAN;
    case NumberFunction::log1p:
      return x > -1.0 ? std::log1p(x) : NAN;
    case NumberFunction::exp:
      return std::exp(x);
    case NumberFunction::sqrt:
      return std::sqrt(x);
    case NumberFunction::power: {
      double out = x;
      for (int i = 1; i < power; ++i) out *= x;
      return out;
    }
    default:
      return x;
  }
}

}  // namespace flymc

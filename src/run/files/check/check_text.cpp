// The words of a check: titles, tables, sentences.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "flymc/diagnose/summary.hpp"
#include "flymc/run/files/check/check.hpp"

namespace flymc {
namespace {

// Four significant digits tell groups apart; digits before the point are all shown.
std::string short_number(double x) {
  const double size = std::abs(x);
  return size >= 1e4 && size < 1e9 ? fmt::format("{:.0f}", x) : fmt::format("{:.4g}", x);
}

std::string padded(const std::string& text, std::size_t width, bool left = false) {
  const std::size_t size = display_width(text);
  const std::string space(width > size ? width - size : 0, ' ');
  return left ? text + space : space + text;
}

struct Found {
  const CheckPart* part;
  const CheckedGroup* group;
};

// The groups outside their bands, furthest first.
std::vector<Found> outside(const RunCheck& check) {
  std::vector<Found> out;
  for (const CheckPart& part : check.parts)
    for (const CheckedGroup& group : part.groups)
      if (group.outside) out.push_back({&part, &group});
  std::ranges::stable_sort(out, std::greater<>(), [](const Found& f) { return std::abs(f.group->deviation); });
  return out;
}

// The statistic of a group, a mean or a share.
std::string compared(const RunCheck& check, const CheckPart& part) {
  const std::string who = readable_name(check.target);
  const std::string one = !part.level.empty() ? readable_name(part.level) : readable_name(check.counted);
  if (check.successes) return fmt::format("the share of successes in {}", who);
  return one.empty() ? fmt::format("the mean of {}", who) : fmt::format("the share of rows whose {} is {}", who, one);
}

bool by_column(const CheckPart& part) {
  return part.kind == CheckKind::column_means || part.kind == CheckKind::column_places;
}

const CheckedGroup& furthest(const CheckPart& part) {
  return *std::ranges::max_element(part.groups, {}, [](const CheckedGroup& g) { return std::abs(g.deviation); });
}

// Aligns columns: the first to the left, the others to the right.
std::string table(const std::vector<std::vector<std::string>>& lines) {
  std::vector<std::size_t> width;
  for (const auto& line : lines)
    for (std::size_t c = 0; c < line.size(); ++c) {
      if (width.size() <= c) width.push_back(0);
      width[c] = std::max(width[c], display_width(line[c]));
    }
  std::string out;
  for (const auto& line : lines) {
    std::string text;
    for (std::size_t c = 0; c < line.size(); ++c) {
      const bool left = c == 0 || c + 1 == line.size();
      text += (c > 0 ? "  " : "") + padded(line[c], width[c], left);
    }
    while (text.ends_with(' ')) text.pop_back();
    out += text + "\n";
  }
  return out;
}

std::string mark(const CheckedGroup& group) {
  return !group.outside ? "" : group.deviation > 0.0 ? "<- more than expected" : "<- less than expected";
}

}  // namespace

bool RunCheck::shares(const CheckPart& part) const {
  const bool means = part.kind == CheckKind::calibration || part.kind == CheckKind::column_means;
  return !means || !part.level.empty() || !counted.empty() || successes;
}

std::string RunCheck::number(const CheckPart& part, double value) const {
  if (!shares(part)) return short_number(value);
  return fmt::format("{:.{}f} %", 100.0 * value, sampled >= 2000 ? 2 : 1);
}

std::string RunCheck::place(const CheckPart& part, const CheckedGroup& group) {
  const auto range = [&](const std::string& from, const std::string& to) {
    return from == to ? from : from + " to " + to;
  };
  switch (part.kind) {
    case CheckKind::counts:
      return std::isinf(group.to) ? fmt::format("{:.0f} and more", group.from)
                                  : range(fmt::format("{:.0f}", group.from), fmt::format("{:.0f}", group.to));
    case CheckKind::places:
      return fmt::format("{:.0f} to {:.0f} %", 100.0 * group.from, 100.0 * group.to);
    case CheckKind::shares:
      return readable_name(group.name);
    default:
      return range(short_number(group.from), short_number(group.to));
  }
}

std::string RunCheck::title(const CheckPart& part) const {
  const std::string who = readable_name(target), column = readable_name(part.column);
  switch (part.kind) {
    case CheckKind::calibration:
      return fmt::format("calibration: {}, in groups of rows by what is predicted for them", compared(*this, part));
    case CheckKind::counts:
      return fmt::format("counts: the share of rows that have each count of {}", who);
    case CheckKind::places:
      return fmt::format(
          "places: the share of rows whose {} lies between these quantiles of what is predicted for them", who);
    case CheckKind::shares:
      return fmt::format("classes: the share of rows of each {}", who);
    case CheckKind::column_means:
      return fmt::format("{}: {}, in groups of rows by {}", column, compared(*this, part), column);
    case CheckKind::column_places:
      return fmt::format("{}: the share of rows whose {} lies above the predicted median, in groups of rows by {}",
                         column, who, column);
  }
  return "";
}

std::string RunCheck::verdict() const {
  std::size_t groups = 0;
  for (const CheckPart& part : parts) groups += part.groups.size();
  const std::size_t out = outside(*this).size();
  if (out == 0) return fmt::format("nothing looks wrong: all {} numbers lie inside their bands", groups);
  return fmt::format("something looks wrong: {} of {} numbers {} outside of {}", out, groups, out == 1 ? "lies" : "lie",
                     out == 1 ? "its band" : "their bands");
}

std::string RunCheck::assurance() const {
  const std::string sure =
      fmt::format("if the model is right, all bands hold at once with probability {:.0f} % or more", 100.0 * level);
  if (passed()) return sure + "; that they hold does not prove the model right";
  return fmt::format(
      "{}, so that at most one right model in {:.0f} raises an alarm; of the {} drawn tables {} as much as this one",
      sure, 1.0 / (1.0 - level), draws, [&] {
        const auto others = std::llround(p_value * static_cast<double>(draws + 1)) - 1;
        return others == 0 ? std::string("none deviates") : fmt::format("{} deviate{}", others, others == 1 ? "s" : "");
      }());
}

std::vector<std::string> RunCheck::findings(std::size_t most) const {
  std::vector<std::string> out;
  for (const auto& [part, group] : outside(*this)) {
    if (out.size() == most) break;
    const std::string where = place(*part, *group), who = readable_name(target), column = readable_name(part->column);
    std::string what;
    switch (part->kind) {
      case CheckKind::calibration:
        what = fmt::format("where {} is predicted, {}", where, compared(*this, *part));
        break;
      case CheckKind::counts:
        what = fmt::format("{} is {}", who, where);
        break;
      case CheckKind::places:
        what = fmt::format("{} lies between the {:.0f} and {:.0f} % quantiles of what is predicted", who,
                           100.0 * group->from, 100.0 * group->to);
        break;
      case CheckKind::shares:
        what = fmt::format("{} is {}", who, where);
        break;
      case CheckKind::column_means:
        what = fmt::format("where {} is {}, {}", column, where, compared(*this, *part));
        break;
      case CheckKind::column_places:
        what = fmt::format("where {} is {}, {} lies above the predicted median", column, where, who);
        break;
    }
    out.push_back(fmt::format("{}: observed {}, the model expects {} ({} to {})", what, number(*part, group->observed),
                              number(*part, group->expected), number(*part, group->lower),
                              number(*part, group->upper)));
  }
  return out;
}

std::string RunCheck::advice() const {
  const std::vector<Found> found = outside(*this);
  if (found.empty()) return "";
  const CheckKind first = found.front().part->kind;
  const bool spread = first == CheckKind::counts || first == CheckKind::places;
  const auto column = std::ranges::find_if(found, [](const Found& f) { return by_column(*f.part); });
  if (!spread && column != found.end())
    return fmt::format(
        "the effect of {} may not be a straight line, or depend on another column: add its square, a spline of it, or "
        "a "
        "product of the two",
        readable_name(column->part->column));
  if (!spread) return "a column may be missing, its effect may not be a straight line, or another link may fit better";
  for (const CheckPart& part : parts) {
    if (part.kind != CheckKind::places) continue;
    const CheckedGroup &low = part.groups.front(), &high = part.groups.back();
    if (!low.outside && !high.outside) continue;
    const bool more = low.deviation > 0.0 && high.deviation > 0.0, less = low.deviation < 0.0 && high.deviation < 0.0;
    if (more)
      return "targets lie far from what is predicted more often than the family draws them: a family with heavier "
             "tails or "
             "more variation, or columns that explain more, may fit better";
    if (less)
      return "targets lie far from what is predicted less often than the family draws them: another family may fit "
             "better";
  }
  return "targets are spread in another way than the family draws them; another family may fit better";
}

std::string RunCheck::text() const {
  std::string out =
      fmt::format("predictive check: {} of {} rows, {} tables drawn from the posterior\n\n", sampled, rows, draws);
  const std::string band = fmt::format("{:.0f} % band", 100.0 * level);
  std::vector<const CheckPart*> columns;
  std::size_t calibrations = 0;
  for (const CheckPart& part : parts) {
    if (by_column(part)) {
      columns.push_back(&part);
      continue;
    }
    // With many classes, only those with a deviation are shown.
    const bool of_class = part.kind == CheckKind::calibration && !part.level.empty();
    if (of_class && ++calibrations > 3 && !std::ranges::any_of(part.groups, &CheckedGroup::outside)) continue;
    std::vector<std::vector<std::string>> lines = {{"", "rows", "observed", "expected", band, ""}};
    for (const CheckedGroup& group : part.groups)
      lines.push_back({place(part, group), fmt::format("{}", group.rows), number(part, group.observed),
                       number(part, group.expected),
                       fmt::format("{} to {}", number(part, group.lower), number(part, group.upper)), mark(group)});
    out += title(part) + "\n" + table(lines) + "\n";
  }
  if (!columns.empty()) {
    constexpr std::size_t most = 10;
    std::ranges::stable_sort(columns, std::greater<>(),
                             [](const CheckPart* part) { return std::abs(furthest(*part).deviation); });
    const std::size_t shown = std::min(most, columns.size());
    std::vector<std::vector<std::string>> lines = {{"column", "where", "rows", "observed", "expected", band, ""}};
    for (std::size_t c = 0; c < shown; ++c) {
      const CheckPart& part = *columns[c];
      const CheckedGroup& group = furthest(part);
      lines.push_back({readable_name(part.column) + (part.level.empty() ? "" : ", " + readable_name(part.level)),
                       place(part, group), fmt::format("{}", group.rows), number(part, group.observed),
                       number(part, group.expected),
                       fmt::format("{} to {}", number(part, group.lower), number(part, group.upper)), mark(group)});
    }
    const bool above = columns.front()->kind == CheckKind::column_places;
    out += fmt::format("columns of numbers: {}, where the rows deviate most{}\n{}\n",
                       above                      ? "the share above the predicted median"
                       : shares(*columns.front()) ? "shares"
                                                  : "means",
                       shown < columns.size() ? fmt::format(" ({} of {} columns)", shown, columns.size()) : "",
                       table(lines));
  }
  for (const std::string& remark : remarks) out += remark + "\n";
  const std::vector<std::string> found = findings();
  out += verdict() + (found.empty() ? "\n" : "; the furthest:\n");
  for (const std::string& finding : found) out += "  " + finding + "\n";
  out += assurance() + "\n";
  if (const std::string help = advice(); !help.empty()) out += help + "\n";
  return out;
}

}  // namespace flymc

// The distance of two names is the number of letters to insert, delete or replace, ignoring case.
#include "flymc/core/names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <numeric>

#include "flymc/core/shown.hpp"

namespace flymc {
namespace {

std::size_t edits(std::string_view from, std::string_view to) {
  const auto same = [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
  };
  std::vector<std::size_t> above(to.size() + 1), row(to.size() + 1);
  std::iota(above.begin(), above.end(), std::size_t{0});
  for (std::size_t i = 1; i <= from.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= to.size(); ++j)
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (same(from[i - 1], to[j - 1]) ? 0u : 1u)});
    std::swap(above, row);
  }
  return above.back();
}

}  // namespace

std::vector<std::string> close_names(std::string_view name, const std::vector<std::string>& known) {
  std::size_t least = name.size() < 3 ? 1 : std::max<std::size_t>(2, name.size() / 3);  // swapping two letters counts 2
  std::vector<std::string> close;
  for (const auto& other : known) {
    const std::size_t distance = edits(name, other);
    if (distance > least || distance >= name.size()) continue;  // a name that shares no letter is another name
    if (distance < least) close.clear();
    least = distance;
    close.push_back(other);
  }
  if (close.size() > 3) close.resize(3);
  return close;
}

std::string closest(std::string_view name, const std::vector<std::string>& known) {
  std::vector<std::string> close = close_names(name, known);
  for (std::string& one : close) one = fmt::format("'{}'", on_one_line(one));
  return close.empty() ? "" : fmt::format("did you mean {}?", joined(close, " or "));
}

std::string did_you_mean(std::string_view name, const std::vector<std::string>& known) {
  const std::string meant = closest(name, known);
  return "; " + (meant.empty() ? "there are " + quoted_list(known, 10) : meant);
}

std::string joined(const std::vector<std::string>& parts, std::string_view separator) {
  std::string text;
  for (const auto& part : parts) text.append(text.empty() ? "" : separator).append(part);
  return text;
}

std::string quoted_list(const std::vector<std::string>& names, std::size_t most) {
  std::string text;
  for (std::size_t i = 0; i < std::min(most, names.size()); ++i)
    text += fmt::format("{}'{}'", i == 0 ? "" : ", ", on_one_line(names[i]));
  if (names.size() > most) text += fmt::format(" and {} more", names.size() - most);
  return text;
}

std::string on_one_line(std::string_view text, std::size_t most) {
  std::string line;
  while (!text.empty()) {
    if (line.size() >= most) return line + "...";
    const std::size_t length = std::max<std::size_t>(utf8_length(text), 1);
    if (text[0] == '\n' || text[0] == '\t')
      line += text[0] == '\n' ? "\\n" : "\\t";
    else
      line += shown(text.substr(0, length));
    text.remove_prefix(length);
  }
  return line;
}

}  // namespace flymc

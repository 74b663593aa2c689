// Escapes, tables, folds.
#include "flymc/show/html.hpp"

#include <fmt/format.h>

#include <cstddef>

namespace flymc {
namespace {

// How many bytes the character at the beginning has, if it is one of UTF-8 (without surrogates and overlong forms); 0: it
// is none.
std::size_t character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const auto follows = [&](std::size_t i, unsigned from = 0x80, unsigned to = 0xBF) {
    return byte(i) >= from && byte(i) <= to;
  };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return follows(1) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF)
    return follows(1, first == 0xE0 ? 0xA0 : 0x80, first == 0xED ? 0x9F : 0xBF) && follows(2) ? 3 : 0;
  if (first >= 0xF0 && first <= 0xF4)
    return follows(1, first == 0xF0 ? 0x90 : 0x80, first == 0xF4 ? 0x8F : 0xBF) && follows(2) && follows(3) ? 4 : 0;
  return 0;
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t size = character(text.substr(i));
    if (size == 0) {
      out += "\xEF\xBF\xBD";
      ++i;
      continue;
    }
    const char c = text[i];
    if (size > 1)
      out += text.substr(i, size);
    else if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else if (c == '\'')
      out += "&#39;";
    else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F)
      out += c == '\n' ? '\n' : ' ';
    else
      out += c;
    i += size;
  }
  return out;
}

std::string sentence(std::string text) {
  if (!text.empty() && text.front() >= 'a' && text.front() <= 'z')
    text.front() = static_cast<char>(text.front() - 'a' + 'A');
  return text.ends_with('.') || text.empty() ? text : text + ".";
}

std::string html_table(const std::vector<std::string>& heading, const std::vector<std::vector<std::string>>& lines) {
  std::string out = "<div class=\"scroll\"><table><thead><tr>";
  for (const std::string& cell : heading) out += fmt::format("<th scope=\"col\">{}</th>", cell);
  out += "</tr></thead><tbody>\n";
  for (const auto& line : lines) {
    out += "<tr>";
    for (std::size_t c = 0; c < line.size(); ++c)
      out += c == 0 ? fmt::format("<th scope=\"row\">{}</th>", line[c]) : fmt::format("<td>{}</td>", line[c]);
    out += "</tr>\n";
  }
  return out + "</tbody></table></div>\n";
}

std::string folded(std::string_view summary, std::string_view content, bool open) {
  return fmt::format("<details{}><summary>{}</summary>\n{}</details>\n", open ? " open" : "", summary, content);
}

}  // namespace flymc

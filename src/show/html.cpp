// Escaping, tables, and content that unfolds.
#include "flymc/show/html.hpp"

#include <fmt/format.h>

#include "flymc/core/shown.hpp"

namespace flymc {

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : shown(text)) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else if (c == '\'')
      out += "&#39;";
    else
      out += c == '\t' ? ' ' : c;
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

// Mentions stand between single angle quotation marks, which are readable even where no door replaces them.
#include "flymc/core/mention.hpp"

#include <algorithm>

namespace flymc {
namespace {

constexpr std::string_view open = "‹", close = "›", equals = " = ", program = "flymc ";

// Parses the text between the marks. Empty if it is not a mention but part of somebody's text.
std::optional<Mention> parse(std::string_view text) {
  Mention out;
  out.action = text.starts_with(program);
  if (out.action) text.remove_prefix(program.size());
  const std::string_view between = out.action ? " " : equals;
  const std::size_t end = text.find(between);
  out.name = text.substr(0, end);
  if (end != std::string_view::npos) out.value = text.substr(end + between.size());
  const auto fits = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; };
  if (out.name.empty() || !std::ranges::all_of(out.name, fits)) return std::nullopt;
  return out;
}

// Marks in somebody's names would end a mention too early: they become < and >.
std::string marked(std::initializer_list<std::string_view> parts) {
  std::string inside;
  for (const std::string_view part : parts) inside += part;
  for (const auto& [mark, plain] : {std::pair(open, "<"), std::pair(close, ">")})
    for (std::size_t at = inside.find(mark); at != inside.npos; at = inside.find(mark))
      inside.replace(at, mark.size(), plain);
  std::string out(open);
  out += inside;
  return out += close;
}

}  // namespace

std::string mention(std::string_view setting) { return marked({setting}); }
std::string mention(std::string_view setting, std::string_view value) { return marked({setting, equals, value}); }
std::string mention_action(std::string_view action) { return marked({program, action}); }
std::string mention_action(std::string_view action, std::string_view run) {
  return marked({program, action, " ", run});
}

std::string leading_setting(std::string_view text) {
  const std::size_t end = text.find(close);
  if (!text.starts_with(open) || end == text.npos) return "";
  const auto found = parse(text.substr(open.size(), end - open.size()));
  return found && !found->action ? found->name : "";
}

std::string spelled(std::string_view text, const std::function<std::string(const Mention&)>& spell) {
  std::string out;
  for (;;) {
    const std::size_t end = text.find(close), begin = end == text.npos ? end : text.rfind(open, end);
    if (end == text.npos) return out += text;
    if (begin == text.npos) {  // a mark in somebody's text
      out += text.substr(0, end + close.size());
      text.remove_prefix(end + close.size());
      continue;
    }
    const std::string_view inside = text.substr(begin + open.size(), end - begin - open.size());
    out += text.substr(0, begin);
    auto found = parse(inside);
    if (found) found->text = text.substr(begin, end + close.size() - begin);
    out += found ? spell(*found) : std::string(text.substr(begin, end + close.size() - begin));
    text.remove_prefix(end + close.size());
  }
}

}  // namespace flymc

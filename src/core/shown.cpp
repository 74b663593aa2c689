// Characters are decoded one at a time; those that a terminal acts upon are written as their numbers.
#include "flymc/core/shown.hpp"

#include <fmt/format.h>

#include <cstdint>

namespace flymc {
namespace {

std::uint32_t code_of(std::string_view character) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint32_t>(static_cast<unsigned char>(character[i])); };
  if (character.size() == 1) return byte(0);
  std::uint32_t code = byte(0) & (0x7fu >> character.size());
  for (std::size_t i = 1; i < character.size(); ++i) code = code << 6 | (byte(i) & 0x3f);
  return code;
}

// C0, DEL and C1; marks that change the direction of writing; line and paragraph separators; the byte-order mark.
bool acts(std::uint32_t c) {
  return (c < 0x20 && c != '\n' && c != '\t') || (c >= 0x7f && c < 0xa0) || c == 0x61c || c == 0x200e || c == 0x200f ||
         (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) || c == 0xfeff;
}

}  // namespace

std::size_t utf8_length(std::string_view text) {
  if (text.empty()) return 0;
  const auto first = static_cast<unsigned char>(text[0]);
  const std::size_t length = first < 0x80                    ? 1
                             : first >= 0xc2 && first < 0xe0 ? 2
                             : first >= 0xe0 && first < 0xf0 ? 3
                             : first >= 0xf0 && first < 0xf5 ? 4
                                                             : 0;
  if (length == 0 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((static_cast<unsigned char>(text[i]) & 0xc0) != 0x80) return 0;
  // Overlong forms, surrogates and numbers beyond U+10FFFF are not UTF-8.
  const std::uint32_t code = code_of(text.substr(0, length));
  const bool bad = (length == 3 && (code < 0x800 || (code >= 0xd800 && code < 0xe000))) ||
                   (length == 4 && (code < 0x10000 || code > 0x10ffff));
  return bad ? 0 : length;
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string shown(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    const std::string_view character = text.substr(0, length);
    if (length == 0)
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[0]));
    else if (const std::uint32_t code = code_of(character); acts(code))
      out += fmt::format("\\u{:04x}", code);
    else
      out += character;
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return out;
}

}  // namespace flymc

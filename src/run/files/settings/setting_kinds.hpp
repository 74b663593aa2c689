// Kinds of settings: how a text, a list, a flag, a number or a choice is written as words and read from them.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "flymc/core/error.hpp"
#include "flymc/core/mention.hpp"
#include "flymc/core/names.hpp"
#include "flymc/run/files/settings/settings.hpp"

namespace flymc {

using SettingWords = std::vector<std::string>;

template <class Number>
Number parse_number(const std::string& name, const std::string& text) {
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

inline const std::string& only_word(const std::string& name, const SettingWords& words) {
  if (words.size() != 1)
    throw InputError(fmt::format("{}: one value is needed, {} are given", mention(name), words.size()));
  return words[0];
}

// `member` is a function from Settings to a reference, for both const and non-const Settings.
template <class Member>
Setting text_setting(std::string name, std::string shape, Setting::Group group, std::string help, Member member) {
  return {name,
          std::move(shape),
          std::move(help),
          Setting::Kind::word,
          group,
          [name, member](Settings& s, const SettingWords& words) { member(s) = only_word(name, words); },
          [member](const Settings& s) { return member(s).empty() ? SettingWords{} : SettingWords{member(s)}; }};
}

// The name of a column. An empty name is rejected; it is usually an unset shell variable.
template <class Member>
Setting column_setting(std::string name, std::string shape, Setting::Group group, std::string help, Member member) {
  Setting out = text_setting(name, std::move(shape), group, std::move(help), member);
  out.set = [name, member](Settings& s, const SettingWords& words) {
    member(s) = only_word(name, words);
    if (member(s).empty()) throw InputError(fmt::format("{}: name a column", mention(name)));
  };
  return out;
}

template <class Member>
Setting list_setting(std::string name, std::string shape, Setting::Group group, std::string help, Member member) {
  return {std::move(name),
          std::move(shape),
          std::move(help),
          Setting::Kind::list,
          group,
          [member](Settings& s, const SettingWords& words) { member(s) = words; },
          [member](const Settings& s) { return member(s); }};
}

template <class Member>
Setting flag_setting(std::string name, Setting::Group group, std::string help, Member member) {
  return {name,
          "",
          std::move(help),
          Setting::Kind::flag,
          group,
          [name, member](Settings& s, const SettingWords& words) {
            const std::string& word = only_word(name, words);
            if (word != "true" && word != "false")
              throw InputError(fmt::format("{}: '{}' is neither true nor false", mention(name), word));
            member(s) = word == "true";
          },
          [member](const Settings& s) { return SettingWords{member(s) ? "true" : "false"}; }};
}

template <class Member>
Setting number_setting(std::string name, std::string shape, Setting::Group group, std::string help, Member member) {
  return {name,
          std::move(shape),
          std::move(help),
          Setting::Kind::word,
          group,
          [name, member](Settings& s, const SettingWords& words) {
            using Number = std::remove_cvref_t<decltype(member(s))>;
            member(s) = parse_number<Number>(name, only_word(name, words));
          },
          [member](const Settings& s) { return SettingWords{fmt::format("{}", member(s))}; }};
}

// One of a few words, in the order of the enumeration's values, or `auto`, with which the program chooses.
template <class Member>
Setting choice_setting(std::string name, Setting::Group group, std::string help,
                       std::span<const std::string_view> words, Member member) {
  std::string shape = "auto";
  for (const std::string_view word : words) shape += fmt::format("|{}", word);
  return {name,
          shape,
          std::move(help),
          Setting::Kind::word,
          group,
          [=](Settings& s, const SettingWords& given) {
            using Enum = typename std::remove_cvref_t<decltype(member(s))>::value_type;
            member(s) = std::nullopt;
            if (only_word(name, given) == "auto") return;
            const auto found = std::find(words.begin(), words.end(), given[0]);
            if (found == words.end())
              throw InputError(fmt::format("{}: '{}' is none of {}", mention(name), given[0], shape));
            member(s) = static_cast<Enum>(found - words.begin());
          },
          [=](const Settings& s) {
            return SettingWords{member(s) ? std::string(words[static_cast<std::size_t>(*member(s))]) : "auto"};
          }};
}

}  // namespace flymc

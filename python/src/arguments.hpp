// Spells settings in messages as arguments of Python.
#pragma once

#include <string>
#include <utility>

#include "flymc/core/mention.hpp"
#include "flymc/core/shown.hpp"
#include "flymc/run/files/settings/settings.hpp"
#include "flymc/run/fit.hpp"

namespace flymc {

inline std::string quoted_for_python(const std::string& word) {
  std::string out = "\"";
  for (const char c : word) out += c == '"' || c == '\\' ? std::string{'\\', c} : std::string(1, c);
  return out + "\"";
}

// missing="drop", draws=5000, float32=True, exclude=["a", "b"]; flymc.resume("run").
inline std::string argument(const Mention& mention) {
  if (mention.action) {
    const std::string run = mention.value ? quoted_for_python(*mention.value) : std::string();
    if (mention.name == "summary" || mention.name == "export") return "`Fit." + mention.name + "`";
    if (mention.name == "loo") return "`Fit.loo().sample`";
    if (mention.name == "sample") return run.empty() ? "`Fit.resample`" : "`flymc.load(" + run + ").resample()`";
    return "`flymc." + mention.name + (run.empty() ? "`" : "(" + run + ")`");
  }
  if (find_setting(mention.name) == nullptr && !is_argument(mention.name)) return mention.text;  // a name from the user
  std::string out = mention.name;
  for (char& c : out)
    if (c == '-') c = '_';
  if (!mention.value) return out;
  const Setting* const setting = find_setting(mention.name);
  const Setting::Kind kind = setting ? setting->kind : Setting::Kind::word;
  const bool flag = setting ? kind == Setting::Kind::flag : *mention.value == "true";
  if (flag) return out + (*mention.value == "true" ? "=True" : "=False");
  const bool number =
      setting && setting->shape.ends_with("N") && mention.value->find_first_not_of("0123456789") == std::string::npos;
  if (number) return out + "=" + *mention.value;
  if (kind == Setting::Kind::word) return out + "=" + quoted_for_python(*mention.value);
  std::string list;
  for (std::size_t begin = 0, end = 0; end != std::string::npos; begin = end + 1) {
    end = mention.value->find(',', begin);
    list += (list.empty() ? "" : ", ") + quoted_for_python(mention.value->substr(begin, end - begin));
  }
  return out + "=[" + list + "]";
}

// Spells mentions as arguments, and shows control characters as numbers, so that names cannot control a terminal.
inline std::string in_arguments(const std::string& text) { return shown(spelled(text, argument)); }
inline FitSummary in_arguments(FitSummary summary) { return std::move(summary).spelled(argument); }

}  // namespace flymc

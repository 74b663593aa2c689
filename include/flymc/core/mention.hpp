// Settings and actions in messages. The library does not know whether a setting was given as a flag of the command, as
// an argument in Python or as a member of a struct. It writes a mention, ‹missing = drop› or ‹flymc resume run›, and
// each door to the program spells it in its own way.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace flymc {

struct Mention {
  std::string name;                  // of the setting, or of the action
  std::optional<std::string> value;  // the value of a setting; the run of an action
  bool action = false;               // `fit`, `resume`, `sample` or `loo`, not a setting
  std::string text;                  // as written, marks included
};

// A setting, by itself or with the value that is advised.
std::string mention(std::string_view setting);
std::string mention(std::string_view setting, std::string_view value);
// An action, by itself or on a run.
std::string mention_action(std::string_view action);
std::string mention_action(std::string_view action, std::string_view run);

// The text with each mention replaced by the result of `spell`.
std::string spelled(std::string_view text, const std::function<std::string(const Mention&)>& spell);

// The setting with whose mention a message begins; empty if it begins otherwise.
std::string leading_setting(std::string_view text);

}  // namespace flymc

// JSON that the command prints.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "flymc/core/shown.hpp"

namespace flymc {

using Json = nlohmann::ordered_json;

// The text of an object of texts, numbers, and lists of texts, on one line. JSON holds UTF-8 only: in other texts, as
// names of files may be, bytes become \xff and the like.
inline std::string json_of(Json object) {
  const auto clean = [](Json& part) {
    if (!part.is_string()) return;
    const auto& text = part.get_ref<const std::string&>();
    if (!is_utf8(text)) part = shown(text);
  };
  for (Json& part : object) {
    clean(part);
    if (part.is_array())
      for (Json& one : part) clean(one);
  }
  return object.dump();
}

}  // namespace flymc

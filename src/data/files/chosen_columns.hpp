// Which columns of a table are features, offset, weights and target.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "flymc/data/files/encoding.hpp"

namespace flymc {

struct ChosenColumns {
  std::vector<EncodedColumn> features;  // of which nothing but names and kinds is known yet
  std::vector<std::string> names;       // of the features, then offset and weights if there are, then the target
  std::vector<EncodedTerm> terms = {};  // of a formula, of which nothing but factors and their coding is known yet
  // Of columns, the level that is named as their reference.
  std::map<std::string, std::string> reference = {};
};
// Throws InputError, without a scan, if a name is unknown, a column cannot be what it is to be, or the options do not
// go together.
ChosenColumns choose_columns(const Table& table, const EncodingOptions& options);

}  // namespace flymc

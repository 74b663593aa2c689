// Which columns of a table are features, offset, weights and target.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "flymc/data/files/encoding/encoding.hpp"

namespace flymc {

struct ChosenColumns {
  std::vector<EncodedColumn> features;      // only names and kinds are known so far
  std::vector<std::string> names;           // of the features, then of the facts, then of the target
  std::vector<EncodedTerm> terms = {};      // of a formula; only factors and their coding are known so far
  std::vector<EncodedFactor> factors = {};  // of a formula; only names and columns are known so far
  std::vector<EncodedEffects> effects = {};
  // The reference level of each column for which one is named.
  std::map<std::string, std::string> reference = {};
};
// Throws InputError, without a scan, if a name is unknown, a column cannot have its role, or the options contradict
// each other.
ChosenColumns choose_columns(const Table& table, const EncodingOptions& options);

}  // namespace flymc

// The target of a table as numbers: what is asked about it, and what one scan of the table learns.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "flymc/core/linear.hpp"
#include "flymc/data/files/table/table.hpp"

namespace flymc {

enum class TargetKind { two_classes, classes, ordered, number };
// Which part of a count a fit explains: the count, whether it is more than 0, or how large it is where it is more than
// 0.
enum class CountPart { all, whether_positive, positive };

struct TargetOptions {
  std::string name = {};  // of the column
  TargetKind kind = TargetKind::two_classes;
  // Each part learns columns from all rows, so that fits of the two parts of a count have the same features. Whether a
  // count is more than 0 has no offset.
  CountPart part = CountPart::all;
  bool trials = false;  // whether it counts the successes of trials, whose numbers are the weights
  // Whether it is a time or an amount, more than 0. Its logarithm is then a feature, and the target of a row is whether
  // its event was seen, according to the column `event` of 0 and 1; without such a column it always was.
  bool times = false;
  std::string event = {};
  // The name of the parameter if a residual scale is drawn (model/residual.hpp). The last feature of each row is then
  // the target itself on its own scale. Empty: the target is not a feature.
  std::string scale = {};
  // The name of the parameter if a shape is drawn (model/sampled_shape.hpp). The last feature of each row is then 1.
  // Empty: there is no shape.
  std::string shape = {};
  bool distinct = false;      // whether to keep the distinct values, and the weight of their rows
  std::string positive = {};  // the value that counts as 1; empty: the larger number, the later text, true
  // The values of an ordered target, from the lowest to the highest. May include values that do not occur. Empty: by
  // size, if they are numbers.
  std::vector<std::string> order = {};
  std::string other_kinds = {};  // for messages: what to do about a target of another kind
};

struct TargetEncoding {
  TargetEncoding() = default;
  TargetEncoding(const TargetOptions& options, ColumnKind column);

  std::string name;
  TargetKind kind = TargetKind::two_classes;
  CountPart part = CountPart::all;
  ColumnKind column = ColumnKind::numeric;
  bool trials = false, times = false;
  std::string event, scale, shape;  // as in the options
  // The classes, by index. With two classes the second is the positive one; ordered classes go from the lowest to the
  // highest. Empty if the target is a number.
  std::vector<std::string> classes;
  std::vector<double> class_values;   // of a numeric or boolean target
  std::vector<double> class_weights;  // the total weight of each class of an ordered target
  // The weighted mean and deviation, over the rows that were kept, of a target that is a number (for times and amounts,
  // of its logarithm). The offset is subtracted first unless the link is a logarithm.
  double mean = 0.0, deviation = 0.0;
  bool has_intercept = true;  // whether an intercept takes up the mean
  // The distinct values, ascending, and the weight of each; empty unless requested.
  std::vector<double> values, weights;
  double seen_weight = 0.0;  // the total weight of the rows whose event was seen, if there is such a column
  RowId zeros = 0;           // rows with a count of 0, which a fit of positive counts leaves out

  // The number of cut points of an ordered target: one less than the classes. They are the first features. Each row of
  // the table becomes a row for each cut point next to its class (data/cut_rows.hpp), whose target is whether the class
  // is above.
  Index cuts() const { return kind == TargetKind::ordered ? static_cast<Index>(classes.size()) - 1 : 0; }
  // Whether the last feature of a row is (target - offset - shift) / unit.
  bool is_feature() const { return !scale.empty(); }
  double shift() const { return has_intercept ? mean : 0.0; }
  double unit() const { return has_intercept ? deviation : std::hypot(deviation, mean); }
  // Whether the last feature of a row is 1, with the logarithm of a shape as its coefficient.
  bool has_shape() const { return !shape.empty(); }
  // Whether the last feature is one of these two, and not a column.
  bool ends_rows() const { return is_feature() || has_shape(); }
  bool uses_offset() const { return part != CountPart::whether_positive; }

  // Whether such options would have produced it.
  bool suits(const TargetOptions& options) const;
  // Throws InputError if it cannot come from any table.
  void check() const;
};

}  // namespace flymc

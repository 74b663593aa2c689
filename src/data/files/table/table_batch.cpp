// Converts columns of Arrow to numbers and codes, once per batch, so that reading a cell is one load.
#include <arrow/array.h>
#include <arrow/scalar.h>
#include <arrow/util/decimal.h>
#include <arrow/util/float16.h>
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "flymc/core/error.hpp"
#include "flymc/core/mention.hpp"
#include "table_file.hpp"

namespace flymc {
namespace {

constexpr double missing = std::numeric_limits<double>::quiet_NaN();

// Calls visit(array, value) for an array of numbers, where value(i) is a plain number of any type. Returns false if it
// is not one.
template <class Visit>
bool visit_numbers(const arrow::Array& array, Visit&& visit) {
  const auto plain = [&](const auto& typed) {
    const auto* values = typed.raw_values();
    visit([values](std::int64_t i) { return values[i]; });
    return true;
  };
  const auto decimal = [&]<class Array, class Decimal>(const Array& typed, Decimal*) {
    const int scale = static_cast<const arrow::DecimalType&>(*array.type()).scale();
    visit([&typed, scale](std::int64_t i) { return Decimal(typed.GetValue(i)).ToDouble(scale); });
    return true;
  };
  switch (array.type_id()) {
    case arrow::Type::INT8:
      return plain(static_cast<const arrow::Int8Array&>(array));
    case arrow::Type::INT16:
      return plain(static_cast<const arrow::Int16Array&>(array));
    case arrow::Type::INT32:
      return plain(static_cast<const arrow::Int32Array&>(array));
    case arrow::Type::INT64:
      return plain(static_cast<const arrow::Int64Array&>(array));
    case arrow::Type::UINT8:
      return plain(static_cast<const arrow::UInt8Array&>(array));
    case arrow::Type::UINT16:
      return plain(static_cast<const arrow::UInt16Array&>(array));
    case arrow::Type::UINT32:
      return plain(static_cast<const arrow::UInt32Array&>(array));
    case arrow::Type::UINT64:
      return plain(static_cast<const arrow::UInt64Array&>(array));
    case arrow::Type::FLOAT:
      return plain(static_cast<const arrow::FloatArray&>(array));
    case arrow::Type::DOUBLE:
      return plain(static_cast<const arrow::DoubleArray&>(array));
    case arrow::Type::HALF_FLOAT: {
      const auto* bits = static_cast<const arrow::HalfFloatArray&>(array).raw_values();
      visit([bits](std::int64_t i) { return arrow::util::Float16::FromBits(bits[i]).ToDouble(); });
      return true;
    }
    case arrow::Type::BOOL: {
      const auto& typed = static_cast<const arrow::BooleanArray&>(array);
      visit([&typed](std::int64_t i) { return typed.Value(i); });
      return true;
    }
    case arrow::Type::DECIMAL32:
      return decimal(static_cast<const arrow::Decimal32Array&>(array), static_cast<arrow::Decimal32*>(nullptr));
    case arrow::Type::DECIMAL64:
      return decimal(static_cast<const arrow::Decimal64Array&>(array), static_cast<arrow::Decimal64*>(nullptr));
    case arrow::Type::DECIMAL128:
      return decimal(static_cast<const arrow::Decimal128Array&>(array), static_cast<arrow::Decimal128*>(nullptr));
    case arrow::Type::DECIMAL256:
      return decimal(static_cast<const arrow::Decimal256Array&>(array), static_cast<arrow::Decimal256*>(nullptr));
    default:
      return false;
  }
}

// All digits of a decimal, which a double may not hold, without trailing zeros in its fraction.
std::string decimal_text(const arrow::Array& array, std::int64_t i) {
  std::string text = array.GetScalar(i).ValueOrDie()->ToString();
  if (text.find('.') == std::string::npos || text.find('E') != std::string::npos) return text;
  text.resize(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

// Calls visit(i, text) for every cell of an array of texts that is not missing. Returns false if it has no texts.
template <class Visit>
bool visit_texts(const arrow::Array& array, Visit&& visit) {
  const auto all = [&](const auto& typed) {
    for (std::int64_t i = 0; i < typed.length(); ++i)
      if (typed.IsValid(i)) visit(i, std::string_view(typed.GetView(i)));
    return true;
  };
  switch (array.type_id()) {
    case arrow::Type::STRING:
      return all(static_cast<const arrow::StringArray&>(array));
    case arrow::Type::LARGE_STRING:
      return all(static_cast<const arrow::LargeStringArray&>(array));
    case arrow::Type::STRING_VIEW:
      return all(static_cast<const arrow::StringViewArray&>(array));
    default:
      return false;
  }
}

bool is_text(const arrow::DataType& type) {
  return type.id() == arrow::Type::STRING || type.id() == arrow::Type::LARGE_STRING ||
         type.id() == arrow::Type::STRING_VIEW;
}

}  // namespace

ColumnKind kind_of(const arrow::DataType& type) {
  if (is_text(type)) return ColumnKind::text;
  if (type.id() == arrow::Type::BOOL) return ColumnKind::boolean;
  if (type.id() == arrow::Type::DICTIONARY) {
    const auto& values = *static_cast<const arrow::DictionaryType&>(type).value_type();
    const ColumnKind kind = values.id() == arrow::Type::DICTIONARY ? ColumnKind::other : kind_of(values);
    return kind == ColumnKind::other ? kind : ColumnKind::text;
  }
  return arrow::is_integer(type.id()) || arrow::is_floating(type.id()) || arrow::is_decimal(type.id()) ||
                 type.id() == arrow::Type::NA
             ? ColumnKind::numeric
             : ColumnKind::other;
}

const char* kind_name(ColumnKind kind) {
  switch (kind) {
    case ColumnKind::numeric:
      return "numbers";
    case ColumnKind::boolean:
      return "true/false";
    case ColumnKind::text:
      return "text";
    case ColumnKind::other:
      break;
  }
  return "neither numbers nor text";
}

bool TableBatch::is_missing(std::size_t column, Index i) const {
  const Column& cells = columns_[column];
  const auto at = static_cast<std::size_t>(i);
  return cells.codes.empty() ? std::isnan(cells.numbers[at]) : cells.codes[at] < 0;
}

std::string_view TableBatch::text(std::size_t column, Index i) const {
  const Column& cells = columns_[column];
  const auto code = cells.codes[static_cast<std::size_t>(i)];
  return code < 0 ? std::string_view() : cells.texts[static_cast<std::size_t>(code)];
}

BatchFiller::BatchFiller(const std::vector<TableColumn>& wanted) : wanted_(wanted) {
  batch_.columns_.resize(wanted.size());
}

const TableBatch& BatchFiller::fill(const arrow::RecordBatch& batch, const std::string& file, std::size_t number,
                                    RowId first) {
  batch_.file_ = &file;
  batch_.file_number_ = number;
  batch_.first_row_ = first;
  batch_.rows_ = batch.num_rows();
  for (std::size_t j = 0; j < wanted_.size(); ++j) {
    const auto array = batch.GetColumnByName(wanted_[j].name);
    if (array == nullptr) throw InputError(fmt::format("{}: has no column '{}'", file, wanted_[j].name));
    fill(j, *array);
  }
  return batch_;
}

void BatchFiller::fill(std::size_t column, const arrow::Array& array) {
  TableBatch::Column& out = batch_.columns_[column];
  out.codes.clear();
  out.texts.clear();
  out.written.clear();
  const std::string& name = wanted_[column].name;
  if (wanted_[column].kind != ColumnKind::text)
    fill_numbers(out, array, name);
  else if (array.type_id() == arrow::Type::DICTIONARY)
    fill_dictionary(out, array, name);
  else
    fill_texts(out, array, name);
}

// Up to this number every whole number has its own double.
constexpr double largest_whole = 9007199254740991.0;

void BatchFiller::fill_numbers(TableBatch::Column& out, const arrow::Array& array, const std::string& name) {
  const auto size = static_cast<std::size_t>(array.length());
  if (array.type_id() == arrow::Type::DOUBLE && array.null_count() == 0) {
    out.numbers = {static_cast<const arrow::DoubleArray&>(array).raw_values(), size};
    return;
  }
  out.converted.assign(size, missing);
  out.numbers = out.converted;
  const bool whole_decimals =
      arrow::is_decimal(array.type_id()) && static_cast<const arrow::DecimalType&>(*array.type()).scale() <= 0;
  if (array.type_id() == arrow::Type::NA) return;
  const bool whole = array.null_count() == 0;
  const bool known = visit_numbers(array, [&](const auto& value) {
    for (std::size_t i = 0; i < size; ++i)
      if (const auto at = static_cast<std::int64_t>(i); whole || array.IsValid(at)) {
        out.converted[i] = static_cast<double>(value(at));
        if (whole_decimals || std::is_integral_v<std::remove_cvref_t<decltype(value(at))>>)
          if (std::abs(out.converted[i]) > largest_whole)
            throw InputError(fmt::format(
                "{}, column '{}', row {}: {} has more digits than a number here keeps; leave the column out, say "
                "{} if its values are names of levels, or make it a floating-point column",
                *batch_.file_, name, batch_.row(static_cast<Index>(i)), value(at), mention("categorical", name)));
      }
  });
  if (!known)
    throw InputError(fmt::format("{}: column '{}' holds {} and cannot be read as numbers", *batch_.file_, name,
                                 array.type()->ToString()));
}

// Texts stay in the file's memory; a number is written as text. There is one text per row, even if texts repeat: a
// batch is small, and its readers look each text up once either way.
void BatchFiller::fill_texts(TableBatch::Column& out, const arrow::Array& array, const std::string& name) {
  const auto size = static_cast<std::size_t>(array.length());
  out.codes.assign(size, -1);
  out.texts.resize(size);
  if (array.type_id() == arrow::Type::NA) return;
  const auto code = [](std::size_t i) { return static_cast<std::int32_t>(i); };
  if (is_text(*array.type())) {
    if (const auto status = array.ValidateFull(); !status.ok())
      throw InputError(fmt::format("{}, column '{}': the text is not UTF-8, or the file is damaged ({}); save it again",
                                   *batch_.file_, name, status.message()));
    visit_texts(array, [&](std::int64_t i, std::string_view text) {
      out.codes[static_cast<std::size_t>(i)] = code(static_cast<std::size_t>(i));
      out.texts[static_cast<std::size_t>(i)] = text;
    });
    return;
  }
  out.written.resize(size);
  const bool known = visit_numbers(array, [&](const auto& value) {
    for (std::size_t i = 0; i < size; ++i) {
      const auto at = static_cast<std::int64_t>(i);
      if (!array.IsValid(at)) continue;
      auto number = value(at);
      if constexpr (std::is_floating_point_v<decltype(number)>) {
        if (std::isnan(number)) continue;
        number += 0;  // turns -0 into 0
      }
      out.written[i] = arrow::is_decimal(array.type_id()) ? decimal_text(array, at) : fmt::format("{}", number);
      out.texts[i] = out.written[i];
      out.codes[i] = code(i);
    }
  });
  if (!known)
    throw InputError(fmt::format("{}: column '{}' holds {} and cannot be read as text", *batch_.file_, name,
                                 array.type()->ToString()));
}

void BatchFiller::fill_dictionary(TableBatch::Column& out, const arrow::Array& array, const std::string& name) {
  const auto& typed = static_cast<const arrow::DictionaryArray&>(array);
  // Indices in a damaged file may point anywhere.
  if (const auto status = typed.ValidateFull(); !status.ok())
    throw InputError(fmt::format("{}, column '{}': the text is not UTF-8, or the file is damaged ({}); save it again",
                                 *batch_.file_, name, status.message()));
  fill_texts(out, *typed.dictionary(), name);
  const std::vector<std::int32_t> of_level = std::move(out.codes);
  out.codes.assign(static_cast<std::size_t>(array.length()), -1);
  for (std::int64_t i = 0; i < array.length(); ++i)
    if (array.IsValid(i))
      out.codes[static_cast<std::size_t>(i)] = of_level[static_cast<std::size_t>(typed.GetValueIndex(i))];
}

}  // namespace flymc

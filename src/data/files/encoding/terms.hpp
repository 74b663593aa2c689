// Terms of a formula as products of columns: the coding of their levels, and the number of a term in a row.
#pragma once

#include <string>
#include <vector>

#include "flymc/data/files/encoding/encoding.hpp"

namespace flymc {

// Chooses the coding of each term's levels, so that no feature is a sum of others and the terms span everything that
// they could. `columns` are those of the formula; their names and kinds must be known. Throws InputError if a term
// cannot be coded, or takes a function of text.
//
// A term of levels a, b, ... spans its parts: a constant, a, b, a:b. Parts that an earlier term spans are not spanned
// again. The parts that are left are one of three cases:
//   - all of them contain certain levels: these are coded without their reference and the others whole, as in R. So
//     a:b after a + b drops both references, and a:b after a has all levels of a and drops the reference of b.
//   - all parts but the constant, as for a:b by itself after an intercept: every combination but the first has a
//     feature.
//   - anything else is refused.
// A term with numbers follows the same rule among the terms with the same numbers: g:x after x has a slope for each
// level but the reference, and without x it has one for each level.
std::vector<EncodedTerm> code_terms(const Formula& formula, const std::vector<EncodedColumn>& columns, bool intercept);

// True and false count as levels here: without their reference they are numbers, and with all levels they are refused.

// Whether the term is a column by itself, so that the sums of the column describe it.
bool is_column(const EncodedTerm& term);

// The product of a term's numbers in row i; 1 if it has none. `names` are those of the scan. Throws InputError, naming
// file, column and row, if the row is outside of a function's domain or the product is too large.
double number_of(const TableBatch& batch, Index i, const EncodedTerm& term, const std::vector<std::string>& names);

}  // namespace flymc

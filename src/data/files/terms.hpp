// Terms of a formula as products of columns: which levels have features of their own, and the number of a row.
#pragma once

#include <string>
#include <vector>

#include "flymc/data/files/encoding.hpp"

namespace flymc {

// How the levels of each term are coded, so that no feature is a sum of others and all that the terms could explain can
// be explained. `columns` are those of the formula, of which names and kinds are known. Throws InputError if a term
// cannot be coded, or takes a function of text.
//
// A term of levels a, b, ... explains what its parts explain: a constant, a, b, a:b. Parts that an earlier term explains
// are not to be explained twice. What is left is one of three:
//   - parts that all have some of the levels in them: these are coded without their reference, the others whole, as R
//     does it. So a:b after a + b has neither reference, and a:b after a has all levels of a and b without its reference.
//   - all parts but the constant, as of a:b by itself after an intercept: every combination has a feature but the first.
//   - something else, which is refused.
// Where there are numbers in the term, too, the same holds among the terms with these numbers: g:x after x is a slope for
// each level but the reference, and without x one for each level.
std::vector<EncodedTerm> code_terms(const Formula& formula, const std::vector<EncodedColumn>& columns, bool intercept);

// True and false are levels here, too: without their reference they are numbers, and with all levels they are refused.

// Whether all that is to be learnt about a term is known of its column.
bool is_column(const EncodedTerm& term);

// The product of a term's numbers in row i; 1 if it has none. `names` are those of the scan. Throws InputError, naming
// file, column and row, if a function has no value there or the product is too large.
double number_of(const TableBatch& batch, Index i, const EncodedTerm& term, const std::vector<std::string>& names);

}  // namespace flymc

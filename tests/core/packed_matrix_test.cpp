// Products against Eigen's, at sizes around multiples of vectors and tiles.
#include "flymc/core/packed_matrix.hpp"

#include <gtest/gtest.h>

#include "flymc/core/random.hpp"

namespace flymc {
namespace {

TEST(PackedMatrix, MultipliesAsEigenDoes) {
  for (const Index rows : {1, 2, 7, 8, 9, 16, 31, 56, 63, 64, 65, 128, 131})
    for (const Index columns : {1, 3, 51}) {
      SCOPED_TRACE(testing::Message() << rows << " x " << columns);
      Matrix m(rows, columns);
      Vector x(columns);
      const PhiloxRandom random(1, static_cast<std::uint64_t>(rows), static_cast<std::uint64_t>(columns));
      random.normals(Purpose::simulate, 0, {m.data(), static_cast<std::size_t>(m.size())});
      random.normals(Purpose::simulate, 1, {x.data(), static_cast<std::size_t>(x.size())});
      const PackedMatrix packed(m);
      EXPECT_EQ(packed.rows(), rows);
      EXPECT_EQ(packed.columns(), columns);
      // One accumulator per entry, terms in the order of the columns: the same bits as this loop.
      Vector expected = Vector::Zero(rows);
      for (Index j = 0; j < columns; ++j)
        for (Index i = 0; i < rows; ++i) expected[i] += m(i, j) * x[j];
      EXPECT_EQ(Vector(packed * x), expected);
      const PackedMatrix copy = packed;
      EXPECT_EQ(Vector(copy * x), expected);
    }
  EXPECT_EQ(PackedMatrix(Matrix(0, 0)).rows(), 0);
}

}  // namespace
}  // namespace flymc

// All rows of a table, in order, through encoders that work on threads.
#include "flymc/data/files/encoding/encoding.hpp"
#include "row_encoder.hpp"

namespace flymc {

void Encoding::encode(const Table& table, const Visit& visit) const {
  const Threads threads;
  encode(table, {threads}, visit);
}

void Encoding::encode(const Table& table, const Execution& execution, const Visit& visit) const {
  // The rows of a batch, kept until they are visited in order.
  struct Slot {
    RowEncoder encoder;
    std::vector<double> x;
    FactColumns facts;
    std::vector<RowOrigin> origins;
    std::vector<Group> groups;
  };
  const RowEncoder encoder(*this, table, true);
  const std::size_t cells = layout().width();
  std::vector<Slot> slots(Table::slots(execution.threads), Slot{encoder, {}, FactColumns(fact_kinds()), {}, {}});
  const Index most_rows = rows_of_batch(cells, 1 << 18);
  table.scan(
      encoder.names(), own_share(table.pieces(), execution.communicator), most_rows, execution.threads,
      [&](std::size_t s, const TableBatch& batch) {
        Slot& slot = slots[s];
        slot.x.clear();
        slot.facts.clear();
        slot.origins.clear();
        slot.groups.clear();
        slot.encoder.run(batch, missing_, [&](const EncodedRow& row) {
          if (row.cells.empty()) return;
          slot.x.insert(slot.x.end(), row.cells.begin(), row.cells.end());
          slot.facts.push_back(row.facts);
          slot.origins.push_back(row.origin);
          slot.groups.insert(slot.groups.end(), row.groups.begin(), row.groups.end());
        });
      },
      [&](std::size_t s) {
        const Slot& slot = slots[s];
        for (std::size_t i = 0; i < slot.facts.size(); ++i)
          visit({{slot.x.data() + i * cells, cells},
                 slot.facts.spans()[i],
                 slot.origins[i],
                 {slot.groups.data() + i * factors_.size(), factors_.size()}});
      });
}

void Encoding::encode_new(const Table& table, Missing missing, const Visit& visit, NewGroups new_groups) const {
  RowEncoder encoder(*this, table, false, new_groups);
  table.scan(encoder.names(), [&](const TableBatch& batch) { encoder.run(batch, missing, visit); });
}

Store read_rows(const Table& table, const Encoding& encoding, NumberType number_type) {
  StoreBuilder builder(encoding.layout(number_type), encoding.fact_kinds(), encoding.group_factors());
  encoding.encode(table, [&](const EncodedRow& row) { builder.append(row.cells, row.facts, row.groups); });
  return builder.finish();
}

}  // namespace flymc

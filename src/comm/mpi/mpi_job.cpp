// The operations of a communicator by MPI. No other file of the library includes mpi.h.
#define OMPI_SKIP_MPICXX
#define MPICH_SKIP_MPICXX
#include "flymc/comm/mpi/mpi_job.hpp"

#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <thread>

namespace flymc {
namespace {

// MPI counts in int, so longer messages go in pieces.
constexpr std::size_t most_at_once = std::size_t{1} << 30;

template <class Bytes, class Transfer>
void in_pieces(Bytes bytes, const Transfer& transfer) {
  for (std::size_t first = 0; first < bytes.size(); first += most_at_once) {
    const auto piece = bytes.subspan(first, std::min(most_at_once, bytes.size() - first));
    transfer(piece.data(), static_cast<int>(piece.size()));
  }
}

class MpiCommunicator final : public Communicator {
 public:
  MpiCommunicator() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
  }
  int rank() const override { return rank_; }
  int size() const override { return size_; }

  void send(std::span<const std::byte> bytes, int to) const override {
    in_pieces(bytes, [&](const void* data, int count) { MPI_Send(data, count, MPI_BYTE, to, 0, MPI_COMM_WORLD); });
  }
  void receive(std::span<std::byte> bytes, int from) const override {
    in_pieces(bytes, [&](void* data, int count) {
      MPI_Recv(data, count, MPI_BYTE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    });
  }
  void broadcast(std::span<std::byte> bytes, int from) const override {
    in_pieces(bytes, [&](void* data, int count) { MPI_Bcast(data, count, MPI_BYTE, from, MPI_COMM_WORLD); });
  }

  // One collective is enough if the bytes of every rank fit into a small letter, after their size. Otherwise each rank
  // that has more broadcasts its bytes.
  std::vector<std::vector<std::byte>> gather(std::span<const std::byte> own) const override {
    constexpr std::size_t letter = 1024, room = letter - sizeof(std::uint64_t);
    std::byte mine[letter];
    std::vector<std::byte> all(letter * static_cast<std::size_t>(size_));
    const auto own_size = static_cast<std::uint64_t>(own.size());
    std::memcpy(mine, &own_size, sizeof own_size);
    if (!own.empty() && own.size() <= room) std::memcpy(mine + sizeof own_size, own.data(), own.size());
    MPI_Allgather(mine, letter, MPI_BYTE, all.data(), letter, MPI_BYTE, MPI_COMM_WORLD);
    std::vector<std::vector<std::byte>> out(static_cast<std::size_t>(size_));
    for (int r = 0; r < size_; ++r) {
      const std::byte* theirs = all.data() + letter * static_cast<std::size_t>(r);
      std::uint64_t size = 0;
      std::memcpy(&size, theirs, sizeof size);
      std::vector<std::byte>& part = out[static_cast<std::size_t>(r)];
      if (size <= room) {
        part.assign(theirs + sizeof size, theirs + sizeof size + size);
        continue;
      }
      if (r == rank_) part.assign(own.begin(), own.end());
      part.resize(size);
      broadcast(part, r);
    }
    return out;
  }

 private:
  int rank_ = 0, size_ = 1;
};

}  // namespace

struct MpiJob::Failed {
  Failed() { MPI_Comm_dup(MPI_COMM_WORLD, &channel); }
  ~Failed() { MPI_Comm_free(&channel); }
  Failed(const Failed&) = delete;
  Failed& operator=(const Failed&) = delete;
  MPI_Comm channel = MPI_COMM_NULL;
};

MpiJob::MpiJob() {
  int given = 0;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &given);
  ranks_ = std::make_unique<MpiCommunicator>();
  failed_ = std::make_unique<Failed>();
}

MpiJob::~MpiJob() {
  failed_.reset();
  MPI_Finalize();
}

void MpiJob::abort(int code) const {
  MPI_Abort(MPI_COMM_WORLD, code);
  std::abort();
}

bool MpiJob::all_failed(std::chrono::milliseconds patience) const {
  const auto last = std::chrono::steady_clock::now() + patience;
  MPI_Request barrier = MPI_REQUEST_NULL;
  MPI_Ibarrier(failed_->channel, &barrier);
  for (;;) {
    int done = 0;
    MPI_Test(&barrier, &done, MPI_STATUS_IGNORE);
    if (done != 0) return true;
    if (std::chrono::steady_clock::now() > last) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace flymc

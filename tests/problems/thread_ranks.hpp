// Ranks that are threads of one process: a communicator without MPI.
#pragma once

#include <condition_variable>
#include <cstring>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <thread>

#include "flymc/comm/communicator.hpp"

namespace flymc::problems {

class ThreadRanks {
 public:
  // Runs task(communicator) once for each of `ranks` ranks, concurrently, and rethrows the error of the first that
  // failed.
  static void run(int ranks, const std::function<void(const Communicator&)>& task) {
    ThreadRanks mail;
    std::vector<std::exception_ptr> errors(static_cast<std::size_t>(ranks));
    std::vector<std::thread> threads;
    for (int r = 0; r < ranks; ++r)
      threads.emplace_back([&, r] {
        try {
          task(Rank(mail, r, ranks));
        } catch (...) {
          errors[static_cast<std::size_t>(r)] = std::current_exception();
        }
      });
    for (std::thread& thread : threads) thread.join();
    for (const std::exception_ptr& error : errors)
      if (error) std::rethrow_exception(error);
  }

 private:
  using Letter = std::vector<std::byte>;
  class Rank final : public Communicator {
   public:
    Rank(ThreadRanks& mail, int rank, int size) : mail_(mail), rank_(rank), size_(size) {}
    int rank() const override { return rank_; }
    int size() const override { return size_; }
    void send(std::span<const std::byte> bytes, int to) const override {
      const std::lock_guard lock(mail_.mutex_);
      mail_.letters_[{rank_, to}].emplace_back(bytes.begin(), bytes.end());
      mail_.arrived_.notify_all();
    }
    void receive(std::span<std::byte> bytes, int from) const override {
      const Letter letter = take(from);
      if (letter.size() != bytes.size()) throw std::logic_error("a letter of another size was expected");
      std::copy(letter.begin(), letter.end(), bytes.begin());
    }
    void broadcast(std::span<std::byte> bytes, int from) const override {
      if (rank_ != from) return receive(bytes, from);
      for (int to = 0; to < size_; ++to)
        if (to != from) send(bytes, to);
    }
    std::vector<Letter> gather(std::span<const std::byte> own) const override {
      for (int to = 0; to < size_; ++to) send(own, to);
      std::vector<Letter> out;
      for (int from = 0; from < size_; ++from) out.push_back(take(from));
      return out;
    }

   private:
    Letter take(int from) const {
      std::unique_lock lock(mail_.mutex_);
      std::deque<Letter>& box = mail_.letters_[{from, rank_}];
      mail_.arrived_.wait(lock, [&] { return !box.empty(); });
      Letter letter = std::move(box.front());
      box.pop_front();
      return letter;
    }
    ThreadRanks& mail_;
    int rank_, size_;
  };

  std::mutex mutex_;
  std::condition_variable arrived_;
  std::map<std::pair<int, int>, std::deque<Letter>> letters_;  // by sender and receiver
};

}  // namespace flymc::problems

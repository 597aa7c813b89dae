// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  A fixed set of threads that work through numbered chunks.
///
/// The caller cuts the work into chunks by the problem, never by the number of threads; each chunk writes its own slot,
/// and slots are summed in order afterwards. Then the result has the same bits for any number of threads.
#include <atomic>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace farfield {

/// The environment variable FARFIELD_THREADS when set (1 to 1024, throws otherwise), else the number of hardware threads.
[[nodiscard]] int default_num_threads();

class ThreadPool {
 public:
    /// `threads` includes the caller of run(): ThreadPool(1) starts none. Throws when it is below 1 or above 1024.
    explicit ThreadPool(int threads);
    ~ThreadPool();
    ThreadPool(const ThreadPool&) = delete;
    ThreadPool& operator=(const ThreadPool&) = delete;

    [[nodiscard]] int size() const { return static_cast<int>(workers_.size()) + 1; }

    /// Calls work(0) .. work(num_chunks - 1), each once, in any order on any thread; the caller takes part and returns when
    /// all are done. If chunks throw, no new ones start, and the exception of the lowest failing chunk is rethrown: the
    /// same one whatever the threads, because chunks are handed out in order.
    /// Inside a chunk of a run with several chunks, and while another thread uses the pool, a run is serial on its caller.
    void run(int num_chunks, const std::function<void(int chunk)>& work);

 private:
    void work_loop(const std::stop_token& stop);
    void take_chunks(std::unique_lock<std::mutex>& lock);

    std::mutex mutex_;  // guards everything below but workers_
    std::condition_variable_any work_ready_;
    std::condition_variable work_done_;
    const std::function<void(int)>* work_ = nullptr;  // of the current run, null between runs
    int num_chunks_ = 0, next_ = 0;                   // chunks next_ .. num_chunks_ - 1 are not handed out yet
    std::atomic<int> in_flight_ = 0;                  // handed out and not finished
    std::atomic<bool> open_ = false;                  // next_ < num_chunks_, for threads that look without the lock
    std::exception_ptr error_;                        // of chunk error_chunk_
    int error_chunk_ = 0;
    std::vector<std::jthread> workers_;  // last: joined first
};

}  // namespace farfield

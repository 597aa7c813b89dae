// SPDX-License-Identifier: Apache-2.0
#include "farfield/base/thread_pool.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "farfield/base/error.hpp"

namespace farfield {

namespace {

constexpr int kMaxThreads = 1024;
constexpr std::chrono::microseconds kLinger{50};

/// Tells the processor that this thread only waits. A yield to the system would give away a whole time slice.
void relax() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

/// Waking a thread that sleeps takes as long as a small run: stay awake for a moment.
template <class Condition>
void linger(Condition&& over) {
    const auto end = std::chrono::steady_clock::now() + kLinger;
    while (!over() && std::chrono::steady_clock::now() < end) relax();
}

/// True while this thread executes a chunk of any pool: parallelism is never nested.
thread_local bool inside_chunk = false;

class InsideChunk {
 public:
    InsideChunk() : outer_(std::exchange(inside_chunk, true)) {}
    ~InsideChunk() { inside_chunk = outer_; }
    InsideChunk(const InsideChunk&) = delete;
    InsideChunk& operator=(const InsideChunk&) = delete;

 private:
    bool outer_;
};

}  // namespace

int default_num_threads() {
    const char* text = std::getenv("FARFIELD_THREADS");
    if (text == nullptr) return std::clamp(static_cast<int>(std::thread::hardware_concurrency()), 1, kMaxThreads);
    const std::string_view view(text);
    int threads = 0;
    const auto [end, error] = std::from_chars(view.data(), view.data() + view.size(), threads);
    if (error != std::errc() || end != view.data() + view.size() || threads < 1 || threads > kMaxThreads) {
        fail("environment variable FARFIELD_THREADS is '", view, "', expected a whole number from 1 to ", kMaxThreads);
    }
    return threads;
}

ThreadPool::ThreadPool(int threads) {
    if (threads < 1 || threads > kMaxThreads) fail("ThreadPool: threads ", threads, ", expected 1 to ", kMaxThreads);
    workers_.reserve(static_cast<std::size_t>(threads - 1));
    for (int i = 1; i < threads; ++i) workers_.emplace_back([this](const std::stop_token& stop) { work_loop(stop); });
}

ThreadPool::~ThreadPool() = default;  // a jthread asks its thread to stop, which wakes it, and joins

void ThreadPool::run(int num_chunks, const std::function<void(int)>& work) {
    FARFIELD_ASSERT(num_chunks >= 0);
    // A single chunk is not parallelism: runs inside it may still use the pool.
    if (num_chunks == 1) return work(0);

    std::unique_lock lock(mutex_, std::defer_lock);
    if (!workers_.empty() && !inside_chunk) lock.lock();
    if (!lock.owns_lock() || work_ != nullptr) {
        if (lock.owns_lock()) lock.unlock();
        const InsideChunk guard;
        for (int chunk = 0; chunk < num_chunks; ++chunk) work(chunk);
        return;
    }
    work_ = &work;
    num_chunks_ = num_chunks;
    next_ = 0;
    open_ = true;
    const int helpers = std::min(size() - 1, num_chunks - 1);
    for (int i = 0; i < helpers; ++i) work_ready_.notify_one();
    take_chunks(lock);
    if (in_flight_ > 0) {
        lock.unlock();
        linger([this] { return in_flight_ == 0; });
        lock.lock();
    }
    work_done_.wait(lock, [this] { return in_flight_ == 0; });
    work_ = nullptr;
    const std::exception_ptr error = std::exchange(error_, nullptr);
    lock.unlock();
    if (error) std::rethrow_exception(error);
}

void ThreadPool::work_loop(const std::stop_token& stop) {
    for (;;) {
        linger([&] { return open_ || stop.stop_requested(); });
        std::unique_lock lock(mutex_);
        if (!work_ready_.wait(lock, stop, [this] { return next_ < num_chunks_; })) return;
        take_chunks(lock);
        if (in_flight_ == 0) work_done_.notify_one();
    }
}

void ThreadPool::take_chunks(std::unique_lock<std::mutex>& lock) {
    const InsideChunk guard;
    while (next_ < num_chunks_) {
        const int chunk = next_++;
        const std::function<void(int)>& work = *work_;
        ++in_flight_;
        lock.unlock();
        std::exception_ptr error;
        try {
            work(chunk);
        } catch (...) {
            error = std::current_exception();
        }
        lock.lock();
        --in_flight_;
        if (error) {
            next_ = num_chunks_;
            if (!error_ || chunk < error_chunk_) {
                error_ = error;
                error_chunk_ = chunk;
            }
        }
    }
    open_ = false;
}

}  // namespace farfield

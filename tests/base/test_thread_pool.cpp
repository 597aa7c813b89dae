// SPDX-License-Identifier: Apache-2.0
#include "farfield/base/thread_pool.hpp"

#include <doctest/doctest.h>
#include <stdlib.h>  // setenv is POSIX, not standard C++

#include <atomic>
#include <cmath>
#include <latch>
#include <set>
#include <string>
#include <thread>

#include "farfield/base/random.hpp"
#include "support/error_text.hpp"

using namespace farfield;
using farfield::testing::error_of;

namespace {

class Environment {  // restores FARFIELD_THREADS at the end of a test
 public:
    explicit Environment(const char* value) {
        if (const char* old = getenv("FARFIELD_THREADS")) old_ = old, had_ = true;
        value ? setenv("FARFIELD_THREADS", value, 1) : unsetenv("FARFIELD_THREADS");
    }
    ~Environment() { had_ ? setenv("FARFIELD_THREADS", old_.c_str(), 1) : unsetenv("FARFIELD_THREADS"); }
    Environment(const Environment&) = delete;
    Environment& operator=(const Environment&) = delete;

 private:
    std::string old_;
    bool had_ = false;
};

}  // namespace

TEST_CASE("every chunk runs exactly once, for any number of threads and chunks [threads]") {
    for (const int threads : {1, 2, 3, 8}) {
        ThreadPool pool(threads);
        CHECK(pool.size() == threads);
        for (const int chunks : {0, 1, 2, 3, 7, 100}) {
            std::vector<std::atomic<int>> count(static_cast<std::size_t>(chunks));
            pool.run(chunks, [&](int chunk) { ++count[static_cast<std::size_t>(chunk)]; });
            for (const auto& c : count) CHECK(c == 1);
        }
    }
}

TEST_CASE("several threads really take part, the caller among them [threads]") {
    ThreadPool pool(3);
    std::latch all_here(3);  // would wait for ever if chunks ran one after the other
    std::vector<std::thread::id> ids(3);
    pool.run(3, [&](int chunk) {
        ids[static_cast<std::size_t>(chunk)] = std::this_thread::get_id();
        all_here.arrive_and_wait();
    });
    const std::set<std::thread::id> distinct(ids.begin(), ids.end());
    CHECK(distinct.size() == 3);
    CHECK(distinct.count(std::this_thread::get_id()) == 1);
}

TEST_CASE("sums over slots have the same bits for any number of threads [threads]") {
    Random random(1);
    std::vector<double> values(10000);
    for (double& value : values) value = std::exp(20.0 * normal(random));  // order matters for these
    const auto total = [&](int threads) {
        ThreadPool pool(threads);
        std::vector<double> slots(64, 0.0);
        pool.run(64, [&](int chunk) {
            for (std::size_t i = static_cast<std::size_t>(chunk); i < values.size(); i += 64) {
                slots[static_cast<std::size_t>(chunk)] += values[i];
            }
        });
        double sum = 0.0;
        for (const double slot : slots) sum += slot;
        return sum;
    };
    const double reference = total(1);
    for (const int threads : {2, 3, 5}) {
        for (int repeat = 0; repeat < 5; ++repeat) CHECK(total(threads) == reference);
    }
}

TEST_CASE("the exception of the lowest failing chunk arrives, and the pool stays usable [threads]") {
    for (const int threads : {1, 2, 4}) {
        ThreadPool pool(threads);
        for (int repeat = 0; repeat < 50; ++repeat) {
            std::atomic<int> ran = 0;
            const std::string text = error_of([&] {
                pool.run(1000, [&](int chunk) {
                    ++ran;
                    if (chunk == 5) std::this_thread::yield();  // gives chunk 7 a chance to fail first
                    if (chunk == 5 || chunk == 7 || chunk == 900)
                        throw std::runtime_error("chunk " + std::to_string(chunk));
                });
            });
            CHECK(text == "chunk 5");
            if (threads == 1) CHECK(ran == 6);  // the rest was not started; with more threads it depends on their speed
            std::atomic<int> after = 0;
            pool.run(10, [&](int) { ++after; });
            CHECK(after == 10);
        }
    }
}

TEST_CASE("a nested run is serial and in order, on the thread of its chunk [threads]") {
    ThreadPool pool(4), other(2);
    std::vector<int> bad(8, 0);
    std::vector<std::vector<int>> order(8);
    pool.run(8, [&](int chunk) {
        const std::size_t slot = static_cast<std::size_t>(chunk);
        for (ThreadPool* inner : {&pool, &other}) {
            inner->run(5, [&](int k) {
                order[slot].push_back(k);
                pool.run(2, [&, self = std::this_thread::get_id()](int) {
                    bad[slot] += std::this_thread::get_id() != self;
                });
            });
        }
    });
    for (std::size_t slot = 0; slot < 8; ++slot) {
        CHECK(bad[slot] == 0);
        CHECK(order[slot] == std::vector<int>{0, 1, 2, 3, 4, 0, 1, 2, 3, 4});
    }
    CHECK(error_of([&] {
              pool.run(4, [&](int) { pool.run(3, [](int k) { throw std::runtime_error(std::to_string(k)); }); });
          }) == "0");
}

TEST_CASE("a run of a single chunk leaves the pool to runs inside it [threads]") {
    ThreadPool pool(2);
    std::latch both_here(2);
    pool.run(1, [&](int) { pool.run(2, [&](int) { both_here.arrive_and_wait(); }); });
    CHECK(both_here.try_wait());
}

TEST_CASE("two callers at once: both finish [threads]") {
    ThreadPool pool(3);
    std::vector<std::atomic<int>> counts(4);
    std::vector<std::jthread> callers;
    for (auto& count : counts) {
        callers.emplace_back([&pool, &count] {
            for (int i = 0; i < 200; ++i) pool.run(7, [&](int) { ++count; });
        });
    }
    callers.clear();
    for (const auto& count : counts) CHECK(count == 1400);
}

TEST_CASE("many small runs [threads]") {
    ThreadPool pool(3);
    std::vector<int> slots(4, 0);
    for (int i = 0; i < 20000; ++i) pool.run(4, [&](int chunk) { ++slots[static_cast<std::size_t>(chunk)]; });
    CHECK(slots == std::vector<int>(4, 20000));
}

TEST_CASE("pools come and go [threads]") {
    for (int i = 0; i < 200; ++i) {
        ThreadPool pool(3);
        std::atomic<int> count = 0;
        if (i % 2 == 0) pool.run(5, [&](int) { ++count; });
        CHECK(count == (i % 2 == 0 ? 5 : 0));
    }
}

TEST_CASE("thread counts are checked [threads]") {
    CHECK(error_of([] { ThreadPool pool(0); }) == "ThreadPool: threads 0, expected 1 to 1024");
    CHECK(error_of([] { ThreadPool pool(-3); }).find("-3") != std::string::npos);
    {
        const Environment environment("3");
        CHECK(default_num_threads() == 3);
    }
    {
        const Environment environment(nullptr);
        CHECK(default_num_threads() >= 1);
    }
    for (const char* bad : {"", "0", "-1", "2x", "many", "1e3", "4096", "99999999999999999999"}) {
        const Environment environment(bad);
        const std::string text = error_of([] { (void)default_num_threads(); });
        CHECK(text == "environment variable FARFIELD_THREADS is '" + std::string(bad) +
                          "', expected a whole number from 1 to 1024");
    }
}

// SPDX-License-Identifier: Apache-2.0
#include "farfield/io/atomic_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <system_error>
#include <utility>

#include "farfield/base/error.hpp"

namespace farfield {
namespace {

std::string reason(int error) { return std::generic_category().message(error); }

class Descriptor {
 public:
    explicit Descriptor(int fd) : fd_(fd) {}
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    ~Descriptor() {
        if (fd_ >= 0) ::close(fd_);
    }
    [[nodiscard]] int get() const { return fd_; }
    [[nodiscard]] int close() { return ::close(std::exchange(fd_, -1)); }

 private:
    int fd_;
};

/// Removes the temporary file unless it was renamed.
class Temporary {
 public:
    explicit Temporary(std::filesystem::path path) : path_(std::move(path)) {}
    Temporary(const Temporary&) = delete;
    Temporary& operator=(const Temporary&) = delete;
    ~Temporary() {
        if (!path_.empty()) ::unlink(path_.c_str());
    }
    [[nodiscard]] const char* c_str() const { return path_.c_str(); }
    void keep() { path_.clear(); }

 private:
    std::filesystem::path path_;
};

/// A name in the same folder that no other thread or process is using.
std::filesystem::path temporary_name(const std::filesystem::path& path) {
    static std::atomic<unsigned> counter{0};
    std::filesystem::path name = path;
    name += ".partial-" + std::to_string(::getpid()) + "-" + std::to_string(counter++);
    return name;
}

void write_all(int fd, std::string_view bytes, const std::string& place) {
    constexpr std::size_t kChunk = std::size_t{1} << 26;
    while (!bytes.empty()) {
        const ssize_t count = ::write(fd, bytes.data(), std::min(bytes.size(), kChunk));
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) fail_file(place, ": cannot write: ", reason(count < 0 ? errno : EIO));
        bytes.remove_prefix(static_cast<std::size_t>(count));
    }
}

/// Reads until `bytes` is full or the file ends; returns how many bytes came.
std::size_t read_all(int fd, char* bytes, std::size_t size, const std::string& place) {
    std::size_t done = 0;
    while (done < size) {
        const ssize_t count = ::read(fd, bytes + done, size - done);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) fail_file(place, ": cannot read: ", reason(errno));
        if (count == 0) break;
        done += static_cast<std::size_t>(count);
    }
    return done;
}

}  // namespace

std::string file_place(const std::filesystem::path& path) { return "file '" + path.string() + "'"; }

void write_atomically(const std::filesystem::path& path, std::string_view bytes) {
    const std::string place = file_place(path);
    if (!path.has_filename()) fail_file(place, ": cannot write: no file name");
    const std::filesystem::path name = temporary_name(path);
    Descriptor file(::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    if (file.get() < 0) fail_file(place, ": cannot write: ", reason(errno));
    Temporary temporary(name);
    write_all(file.get(), bytes, place);
    if (::fsync(file.get()) != 0) fail_file(place, ": cannot write: ", reason(errno));
    if (file.close() != 0) fail_file(place, ": cannot write: ", reason(errno));
    if (::rename(temporary.c_str(), path.c_str()) != 0) fail_file(place, ": cannot write: ", reason(errno));
    temporary.keep();
    // The file is in place; that its name survives a power cut is up to the file system when this is refused.
    const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
    const Descriptor directory(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (directory.get() >= 0) (void)::fsync(directory.get());
}

std::string read_whole(const std::filesystem::path& path, HeadCheck check) {
    const std::string place = file_place(path);
    const Descriptor file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));  // a pipe must not block us
    if (file.get() < 0) fail_file(place, ": cannot read: ", reason(errno));
    struct stat info {};
    if (::fstat(file.get(), &info) != 0) fail_file(place, ": cannot read: ", reason(errno));
    if (!S_ISREG(info.st_mode)) fail_file(place, ": cannot read: not a regular file");
    const auto size = static_cast<std::size_t>(info.st_size);
    char head[8];
    const std::size_t head_size = read_all(file.get(), head, std::min(size, sizeof(head)), place);
    check({head, head_size}, size, place);
    std::string bytes(size, '\0');
    std::copy_n(head, head_size, bytes.begin());
    const std::size_t got = head_size + read_all(file.get(), bytes.data() + head_size, size - head_size, place);
    if (got != size) fail_file(place, ": cannot read: ended after ", got, " bytes, expected ", size);
    return bytes;
}

}  // namespace farfield

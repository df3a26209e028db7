// SPDX-License-Identifier: BSD-3-Clause
#include "policy/io/run_folder.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <cstdint>
#include <ctime>
#include <optional>
#include <utility>
#include <vector>

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>

#include "policy/base/text.h"
#include "policy/io/text_file.h"

namespace paced::io {

namespace {

constexpr char owners_name[] = "owners";
constexpr char key_name[] = "key";
constexpr std::size_t most_owner_bytes = 1 << 20;

class Descriptor {
public:
    explicit Descriptor(int number) : number_(number) {}
    Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
    Descriptor& operator=(Descriptor&&) = delete;
    ~Descriptor() {
        if (number_ >= 0) close(number_);
    }
    int get() const { return number_; }
    bool open() const { return number_ >= 0; }

private:
    int number_;
};

tl::unexpected<Error> failed(const std::string& doing) { return fail("cannot " + doing + ": " + std::strerror(errno)); }

int open_folder_at(int parent, const char* name) { return openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC); }

bool is_private(const struct stat& status) { return S_ISDIR(status.st_mode) && status.st_uid == geteuid() && (status.st_mode & 077) == 0; }

// BASE/paced-fabric-UID, made if need be.
Result<Descriptor> open_user_folder(const std::string& base, const std::string& path) {
    const Descriptor parent(open(base.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!parent.open()) return failed("open " + base);
    const std::string name = path.substr(path.rfind('/') + 1);
    if (mkdirat(parent.get(), name.c_str(), 0700) != 0 && errno != EEXIST) return failed("make " + path);
    Descriptor folder(open_folder_at(parent.get(), name.c_str()));
    if (!folder.open()) return failed("open " + path);
    struct stat status {};
    if (fstat(folder.get(), &status) != 0) return failed("look at " + path);
    if (!is_private(status)) return fail(path + " is not a folder of this user alone");
    return folder;
}

// Held until the folder's descriptor is closed.
bool lock(const Descriptor& folder) {
    for (int attempt = 0; attempt < 500; ++attempt) {
        if (flock(folder.get(), LOCK_EX | LOCK_NB) == 0) return true;
        const timespec pause{0, 2'000'000};
        nanosleep(&pause, nullptr);
    }
    return false;
}

Result<Descriptor> create_file_at(int folder, const char* name, const std::string& path) {
    Descriptor file(openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!file.open()) return failed("make " + path);
    return file;
}

struct Owner {
    int local_rank = whole_step;
    ProcessIdentity process;
};

// nullopt: the folder has no list that we could read. A line that makes no sense stands for somebody unknown.
std::optional<std::vector<Owner>> read_owners(int folder) {
    const Descriptor file(openat(folder, owners_name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
    if (!file.open()) return std::nullopt;
    std::string text(most_owner_bytes, '\0');
    std::size_t length = 0;
    for (ssize_t got; (got = read(file.get(), text.data() + length, text.size() - length)) > 0;) length += static_cast<std::size_t>(got);
    text.resize(length);
    std::vector<Owner> owners;
    for (std::string_view line : split(text, '\n')) {
        if (line.empty()) continue;
        const auto blank = line.find(' ');
        const auto rank = parse_integer(line.substr(0, blank));
        const auto process = blank == std::string_view::npos ? std::nullopt : parse_identity(line.substr(blank + 1));
        if (!rank || !process) return std::nullopt;
        owners.push_back({static_cast<int>(*rank), *process});
    }
    return owners;
}

bool all_gone(const std::vector<Owner>& owners) {
    return std::all_of(owners.begin(), owners.end(), [](const Owner& owner) { return is_gone(owner.process); });
}

// The names in a folder but for . and .., at most `most` of them; nullopt: there are more.
std::optional<std::vector<std::string>> names_in(int folder, int most) {
    DIR* stream = fdopendir(openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (stream == nullptr) return std::nullopt;
    std::vector<std::string> names;
    bool complete = true;
    while (const dirent* entry = readdir(stream)) {
        const std::string_view name = entry->d_name;
        if (name == "." || name == "..") continue;
        if (static_cast<int>(names.size()) == most) {
            complete = false;
            break;
        }
        names.emplace_back(name);
    }
    closedir(stream);
    if (!complete) return std::nullopt;
    return names;
}

// A run folder is flat. Unlinking never follows a link.
bool remove_folder(int parent, const std::string& name, int folder, int most_files) {
    const auto names = names_in(folder, most_files);
    if (!names) return false;
    for (const std::string& file : *names)
        if (unlinkat(folder, file.c_str(), 0) != 0 && errno != ENOENT) return false;
    return unlinkat(parent, name.c_str(), AT_REMOVEDIR) == 0;
}

bool is_younger(int folder, std::chrono::seconds age) {
    struct stat status {};
    return fstat(folder, &status) == 0 && std::time(nullptr) - status.st_mtime < age.count();
}

int sweep(int user_folder, const SweepLimits& limits) {
    DIR* stream = fdopendir(openat(user_folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (stream == nullptr) return 0;
    int removed = 0;
    const dirent* entry = nullptr;
    for (int looked_at = 0; looked_at < limits.entries && removed < limits.folders && (entry = readdir(stream)) != nullptr; ++looked_at) {
        const std::string name = entry->d_name;
        if (name == "." || name == "..") continue;
        const Descriptor folder(open_folder_at(user_folder, name.c_str()));
        struct stat status {};
        if (!folder.open() || fstat(folder.get(), &status) != 0 || !is_private(status)) continue;
        if (is_younger(folder.get(), limits.youngest)) continue;
        // no list at all: a launch that died between two file operations, or somebody else's folder, which is then
        // too full or not flat; an empty one can always go
        const auto owners = read_owners(folder.get());
        const bool dead = owners ? all_gone(*owners) : faccessat(folder.get(), owners_name, F_OK, AT_SYMLINK_NOFOLLOW) != 0;
        if (dead && remove_folder(user_folder, name, folder.get(), owners ? limits.files : 1)) ++removed;
    }
    closedir(stream);
    return removed;
}

// What a launch finds under its session's name.
enum class Found { nothing, ours, left_behind, in_use };

Found look(int user_folder, const RunFolderRequest& request) {
    const Descriptor folder(open_folder_at(user_folder, request.session.c_str()));
    if (!folder.open()) return errno == ENOENT ? Found::nothing : Found::left_behind;
    const auto owners = read_owners(folder.get());
    if (!owners || (all_gone(*owners) && !is_younger(folder.get(), SweepLimits{}.youngest))) return Found::left_behind;
    for (const Owner& owner : *owners) {
        if (request.local_rank != whole_step && owner.local_rank != request.local_rank) continue;
        // this rank was launched before: by an earlier step of the same name, unless it is still there
        return is_gone(owner.process) ? Found::left_behind : Found::in_use;
    }
    return Found::ours;
}

}  // namespace

Result<RunFolder> join_run_folder(const RunFolderRequest& request) {
    if (!is_session_name(request.session)) return fail("'" + request.session + "' cannot name a run folder");
    const std::string user_path = request.base + "/paced-fabric-" + std::to_string(geteuid());
    const auto user_folder = open_user_folder(request.base, user_path);
    if (!user_folder) return tl::unexpected<Error>(user_folder.error());
    if (!lock(*user_folder)) return fail("another launch does not let go of " + user_path);

    RunFolder joined{user_path + '/' + request.session, {}, false};
    const char* name = request.session.c_str();
    switch (look(user_folder->get(), request)) {
        case Found::in_use: return fail("another launch uses " + joined.path);
        case Found::left_behind: {
            // its processes, if any are left, keep what they have mapped
            const std::string aside = ".left-" + std::to_string(getpid()) + '-' + std::to_string(std::time(nullptr)) + '-' + request.session;
            if (renameat(user_folder->get(), name, user_folder->get(), aside.c_str()) != 0) return failed("put aside " + joined.path);
            [[fallthrough]];
        }
        case Found::nothing:
            if (mkdirat(user_folder->get(), name, 0700) != 0) return failed("make " + joined.path);
            joined.first = true;
            break;
        case Found::ours: break;
    }

    const Descriptor folder(open_folder_at(user_folder->get(), name));
    if (!folder.open()) return failed("open " + joined.path);
    // What this launch has made goes again (a full /dev/shm, say): nobody else would clear it.
    const auto give_up = [&](tl::unexpected<Error> why) {
        if (joined.first) remove_folder(user_folder->get(), request.session, folder.get(), 2);
        return why;
    };
    if (joined.first && !request.key.empty()) {
        const auto key = create_file_at(folder.get(), key_name, joined.path + '/' + key_name);
        if (!key) return give_up(tl::unexpected<Error>(key.error()));
        if (!write_all(key->get(), request.key)) return give_up(failed("write " + joined.path + '/' + key_name));
    }
    if (faccessat(folder.get(), key_name, F_OK, AT_SYMLINK_NOFOLLOW) == 0) joined.key_file = joined.path + '/' + key_name;

    const Descriptor owners(openat(folder.get(), owners_name, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!owners.open() || !write_all(owners.get(), std::to_string(request.local_rank) + ' ' + to_string(identify(request.owner)) + '\n'))
        return give_up(failed("write " + joined.path + '/' + owners_name));
    return joined;
}

int sweep_dead_run_folders(const std::string& base, const SweepLimits& limits) {
    const Descriptor parent(open(base.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!parent.open()) return 0;
    const Descriptor user_folder(open_folder_at(parent.get(), ("paced-fabric-" + std::to_string(geteuid())).c_str()));
    struct stat status {};
    if (!user_folder.open() || fstat(user_folder.get(), &status) != 0 || !is_private(status) || !lock(user_folder)) return 0;
    return sweep(user_folder.get(), limits);
}

bool is_session_name(std::string_view text) {
    const auto allowed = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
    };
    return !text.empty() && text.size() <= 63 && text.front() != '.' && std::all_of(text.begin(), text.end(), allowed);
}

std::string session_name(std::string_view text) {
    if (is_session_name(text)) return std::string(text);
    std::string name(text.substr(0, 40));
    for (char& c : name)
        if (!is_session_name(std::string{'x', c})) c = '-';
    if (name.empty() || name.front() == '.') name.insert(0, "x");
    // FNV-1a: the same on every node, whatever its library
    std::uint64_t hash = 0xcbf29ce484222325;
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    name += '-';
    for (int shift = 60; shift >= 0; shift -= 4) name += "0123456789abcdef"[(hash >> shift) & 15];
    return name;
}

std::string random_key() {
    unsigned char bytes[32];
    if (getrandom(bytes, sizeof bytes, GRND_NONBLOCK) != static_cast<ssize_t>(sizeof bytes)) return {};
    std::string key;
    for (const unsigned char byte : bytes) (key += "0123456789abcdef"[byte >> 4]) += "0123456789abcdef"[byte & 15];
    return key;
}

std::string key_from_secret(std::string_view secret) {
    std::string digits;
    for (char c : secret) {
        if (c >= 'A' && c <= 'F') c = static_cast<char>(c - 'A' + 'a');
        if ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f')) digits += c;
    }
    if (digits.size() < 32) return {};
    while (digits.size() < 64) digits += digits;
    return digits.substr(0, 64);
}

}  // namespace paced::io

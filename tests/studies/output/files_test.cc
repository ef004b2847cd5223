#include "studies/output/files.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "studies/process/file_guard.h"
#include "tests/catch.h"

namespace weir {
namespace {

namespace fs = std::filesystem;

struct FilesFolder {
  FilesFolder() : path(fs::temp_directory_path() / ("weir-files-" + std::to_string(getpid()))) {
    fs::create_directories(path);
  }
  FilesFolder(const FilesFolder&) = delete;
  FilesFolder& operator=(const FilesFolder&) = delete;
  ~FilesFolder() { fs::remove_all(path); }
  std::string file(const char* name) const { return path / name; }
  fs::path path;
};

std::string content(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

bool vanishes(const std::string& file) {
  for (int i = 0; i < 500 && fs::exists(file); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  return !fs::exists(file);
}

TEST_CASE("a secret that is read while it is replaced is always whole") {
  const FilesFolder folder;
  const std::string file = folder.file("secret");
  const std::string secret(100'000, 's');
  REQUIRE(write_secret(file, secret));
  std::atomic<bool> stop = false;
  std::thread writer([&] {
    while (!stop) {
      if (!write_secret(file, secret)) break;
    }
  });
  int halves = 0;
  for (int i = 0; i < 2000; ++i) halves += content(file) == secret ? 0 : 1;
  stop = true;
  writer.join();
  CHECK(halves == 0);
  CHECK(fs::status(file).permissions() == (fs::perms::owner_read | fs::perms::owner_write));
  CHECK_FALSE(fs::exists(unfinished(file)));
}

TEST_CASE("a secret that cannot be written is reported, and nothing is left of it") {
  const FilesFolder folder;
  const std::string file = folder.file("secret");
  fs::create_directories(file + "/full");
  const auto written = write_secret(file, "s");
  REQUIRE_FALSE(written);
  CHECK_THAT(written.error().text, has_text("cannot write " + file));
  CHECK_FALSE(fs::exists(unfinished(file)));
}

TEST_CASE("writing through links keeps the links, and keeps devices") {
  const FilesFolder folder;
  fs::create_symlink(folder.file("real"), folder.file("link"));
  REQUIRE(write_text(folder.file("link"), "new"));
  CHECK(fs::is_symlink(folder.file("link")));
  CHECK(content(folder.file("real")) == "new");
  fs::create_symlink("/dev/null", folder.file("device"));
  REQUIRE(write_text(folder.file("device"), "gone"));
  CHECK(fs::is_symlink(folder.file("device")));
  CHECK(fs::is_character_file("/dev/null"));
  fs::remove(folder.file("real"));
  REQUIRE(write_text(folder.file("link"), "again"));  // whose target does not exist
  CHECK(content(folder.file("real")) == "again");
}

TEST_CASE("checking whether a file can be written leaves no trace") {
  const FilesFolder folder;
  CHECK(check_writable(folder.file("new")));
  CHECK(fs::is_empty(folder.path));
  REQUIRE(write_text(folder.file("old"), "text"));
  CHECK(check_writable(folder.file("old")));
  CHECK(content(folder.file("old")) == "text");
  CHECK(check_writable("/dev/null"));
  for (const std::string& file : {folder.path.string(), folder.file("none/file"), folder.file("old/file")}) {
    const auto open = check_writable(file);
    REQUIRE_FALSE(open);
    CHECK_THAT(open.error().text, has_text(file + ": cannot be written: "));
    CHECK(write_text(file, "text").error().text == open.error().text);
  }
}

TEST_CASE("guarded files are removed with their guard") {
  const FilesFolder folder;
  const std::string file = folder.file("a");
  auto guard = FileGuard::make({file, folder.file("none")});
  REQUIRE(guard);
  REQUIRE(write_secret(file, "s"));
  guard->reset();
  CHECK_FALSE(fs::exists(file));
}

TEST_CASE("guarded files are removed when their process ends, whatever ends it and its children") {
  const FilesFolder folder;
  const std::string file = folder.file("a");
  for (const int signal : {SIGKILL, SIGINT, SIGTERM}) {
    const pid_t process = fork();
    if (process == 0) {
      setpgid(0, 0);
      std::signal(signal, SIG_DFL);  // undo the test program's handler
      const auto guard = FileGuard::make({file});
      if (!guard || !write_secret(file, "s")) _exit(1);
      kill(0, signal);  // like a terminal: to the whole group
      pause();
      _exit(1);
    }
    int status = 0;
    REQUIRE(waitpid(process, &status, 0) == process);
    CHECK(WIFSIGNALED(status));
    CHECK(vanishes(file));
  }
}

}  // namespace
}  // namespace weir

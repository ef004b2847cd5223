#include "studies/sweep/run_key.h"

#include <fmt/format.h>
#include <link.h>
#include <sodium.h>

#include <array>
#include <filesystem>

#include "backends/real/process/program.h"
#include "core/base/version.h"

namespace weir {
namespace {

constexpr std::size_t kBytes = 16;

std::string digits_of(const std::string& text) {
  std::array<unsigned char, kBytes> hash{};
  (void)crypto_generichash(hash.data(), hash.size(), reinterpret_cast<const unsigned char*>(text.data()),
                           text.size(), nullptr, 0);
  std::array<char, 2 * kBytes + 1> digits{};
  return sodium_bin2hex(digits.data(), digits.size(), hash.data(), hash.size());
}

// The name of SimGrid's file, which ends in its version; empty if it is not loaded.
std::string simgrid_library() {
  std::string found;
  dl_iterate_phdr(
      [](dl_phdr_info* library, std::size_t, void* name) {
        std::error_code ignored;
        const auto file = std::filesystem::canonical(library->dlpi_name, ignored).filename().string();
        if (file.starts_with("libsimgrid")) *static_cast<std::string*>(name) = file;
        return 0;
      },
      &found);
  return found;
}

}  // namespace

Result<std::string> program_identity() {
  const auto program = read_text(real::program_path().string());
  if (!program) return tl::unexpected(program.error());
  return fmt::format("{} {} {}", version(), digits_of(*program), simgrid_library());
}

std::string run_key(const RunInputs& inputs, const std::string& contender, std::uint64_t seed,
                    const std::string& program, const World& world) {
  return digits_of(
      fmt::format("{}\n{}\n{}\n{}", program, world.name, world.settings, inputs.text(contender, seed)));
}

}  // namespace weir

// What a fuzzer calls: libFuzzer's, which looks for bytes that break it (scripts/fuzz), or replay.cc, which
// goes through the bytes that are kept.
#pragma once

#include <cstddef>
#include <cstdint>

/// Aborts if the bytes are taken for what they are not. Returns 0, always. Any bytes; nothing is kept of
/// them.
// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

// The function that a fuzzer calls. libFuzzer searches for bytes that break it (scripts/fuzz); replay.cc
// calls it with the inputs kept in the corpus.
#pragma once

#include <cstddef>
#include <cstdint>

/// Aborts if the code under test handles the bytes wrongly. Accepts any bytes and keeps nothing. Always
/// returns 0.
// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

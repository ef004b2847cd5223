// Sizes, rates and times as text. Files hold the exact form, which parses back to the same value; tables show
// the rounded one. Bits appear only in units that end in bps; GB is 10^9 bytes and GiB 2^30.
#pragma once

#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/base/units.h"

namespace weir {

/// "512B", "4MB", "1.5MiB": a whole number of bytes.
Result<Bytes> parse_size(std::string_view text);

/// "100Gbps", "12.5GB/s", "10GiB/s" or "unlimited": above zero, to the nearest byte per second.
Result<BytesPerSecond> parse_rate(std::string_view text);

/// "711000ns", "5us", "1.5ms", "2s": a whole number of nanoseconds.
Result<Duration> parse_duration(std::string_view text);

/// The shortest text that parses back to the value, if the value is one that parses: "100Gbps", "4MiB",
/// "1.5ms".
std::string text(Bytes size);
std::string text(BytesPerSecond rate);
std::string text(Duration duration);

/// To four digits, for tables: "4.096 MB", "90 Gbps", "88.9 ms".
std::string rounded(Bytes size);
std::string rounded(BytesPerSecond rate);
std::string rounded(Duration duration);

/// The rate to four digits in bytes: "11.25 GB/s".
std::string rounded_in_bytes(BytesPerSecond rate);

/// Regular expressions for schemas: each accepts what its parse function accepts, up to range and whole
/// numbers.
std::string size_pattern();
std::string rate_pattern();
std::string duration_pattern();

}  // namespace weir

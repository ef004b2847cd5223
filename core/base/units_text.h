// Sizes, rates and times as text. Files hold the exact form, which parses back to the same value. Tables show
// the rounded form. Only units that end in bps count bits. GB is 10^9 bytes, GiB is 2^30.
#pragma once

#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/base/units.h"

namespace weir {

/// Reads "512B", "4MB" or "1.5MiB". Fails if it is not a whole number of bytes.
Result<Bytes> parse_size(std::string_view text);

/// Reads "100Gbps", "12.5GB/s", "10GiB/s" or "unlimited". Rounds to whole bytes per second; zero fails.
Result<BytesPerSecond> parse_rate(std::string_view text);

/// Reads "711000ns", "5us", "1.5ms" or "2s". Fails if it is not a whole number of nanoseconds.
Result<Duration> parse_duration(std::string_view text);

/// The shortest text that parses back to the value: "100Gbps", "4MiB", "1.5ms". Values that no text parses
/// to, such as negative ones, are written too.
std::string text(Bytes size);
std::string text(BytesPerSecond rate);
std::string text(Duration duration);

/// The value to four digits, for tables: "4.096 MB", "90 Gbps", "88.9 ms".
std::string rounded(Bytes size);
std::string rounded(BytesPerSecond rate);
std::string rounded(Duration duration);

/// The rate to four digits in bytes: "11.25 GB/s".
std::string rounded_in_bytes(BytesPerSecond rate);

/// Regular expressions for schemas. Each accepts what its parse function accepts, but does not check the
/// range nor whether the number is whole.
std::string size_pattern();
std::string rate_pattern();
std::string duration_pattern();

}  // namespace weir

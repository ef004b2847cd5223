// The return type of functions that can fail because of their input or of the world: a value, or an Error
// that says where, what is wrong and what would be right. No exception crosses a function of ours.
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace weir {

/// One complaint, ready to print: "topologies/lab.json:12: groups[2].nics[0].rate: '100Gb' is not a rate; try
/// 100Gbps".
struct Error {
  std::string text;
};

inline bool operator==(const Error& a, const Error& b) { return a.text == b.text; }

/// A value, or why there is none.
template <class T>
class [[nodiscard]] Result : public tl::expected<T, Error> {
 public:
  using tl::expected<T, Error>::expected;
};

/// A failed result with this text; it converts to any Result.
inline tl::unexpected<Error> failure(std::string text) {
  return tl::unexpected<Error>(Error{std::move(text)});
}

}  // namespace weir

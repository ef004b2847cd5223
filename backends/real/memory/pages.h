// Memory for buffers that much data moves through: whole pages that are there before the first byte comes.
// Fresh pages cost more to touch than to sum.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "core/base/result.h"
#include "core/base/units.h"

namespace weir::real {

/// What the system can still give without taking it from another process, and what it lets this container
/// have. Any thread may ask.
Bytes available_memory();

/// What memory is wished for. A system that does not grant huge pages or a place gives the rest nevertheless:
/// Pages says what came of it.
struct PageWishes {
  enum class Size { kUsual, kHuge };
  Size pages = Size::kHuge;
  std::optional<int> numa;  // the node whose memory it should be
};

/// Whole pages of memory, zero at first and touched, so that they take no page fault later. A resource: the
/// memory goes back when it ends. Any thread may ask; who writes what is the owner's matter.
///
/// Invariants:
/// * data() is aligned to a page, and to a huge page where huge ones were wished for and one fits.
/// * The memory has room for size() bytes, which are at least one.
class Pages {
 public:
  /// Memory of this process alone. An error if the machine has not that much, or no such NUMA node.
  static Result<std::unique_ptr<Pages>> make(Bytes size, const PageWishes& wishes = {});

  /// Memory that other processes can map through descriptor(). `name` is shown by the system's tools and need
  /// not be unique. It lives as long as anyone maps it, and needs no cleaning up.
  static Result<std::unique_ptr<Pages>> make_shared(Bytes size, const std::string& name,
                                                    const PageWishes& wishes = {});

  /// The shared memory that a descriptor of another process's make_shared() stands for. Fails, before it
  /// takes any memory, if it has another size. The descriptor stays its caller's, and may be closed
  /// afterwards.
  static Result<std::unique_ptr<Pages>> map_shared(int descriptor, Bytes size);

  ~Pages();
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;

  std::byte* data() const { return data_; }
  Bytes size() const { return size_; }

  /// How much of it lies in huge pages now. Reads the process's list of mappings: not for hot paths.
  Bytes huge() const;

  /// The NUMA node that was wished for, if the system took the wish. Such memory is on the node as long as
  /// the node has free memory.
  std::optional<int> numa() const { return numa_; }

  /// The memory's descriptor, owned by this object; none if the memory is not shared.
  std::optional<int> descriptor() const;

 private:
  Pages(std::byte* data, Bytes size, int descriptor);
  static Result<std::unique_ptr<Pages>> map(Bytes size, int descriptor, const PageWishes& wishes);
  Result<void> settle(const PageWishes& wishes);

  std::byte* data_;
  Bytes size_;
  int descriptor_;
  std::optional<int> numa_;
};

}  // namespace weir::real

// Memory for buffers that much data moves through: whole pages, allocated before the first byte arrives.
// Touching fresh pages would cost more than summing them.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "core/base/result.h"
#include "core/base/units.h"

namespace weir::real {

/// The memory that the system, and this process's container, can still give without taking it from another
/// process. Any thread may ask.
Bytes available_memory();

/// Wishes for memory. If the system does not grant huge pages or a node, the memory is made nevertheless;
/// Pages shows the result.
struct PageWishes {
  enum class Size { kUsual, kHuge };
  Size pages = Size::kHuge;
  std::optional<int> numa;  // the node whose memory it should be
};

/// Whole pages of memory, zero at first and already touched, so that they cause no page faults later. A
/// resource: frees the memory at its end. Any thread may use it; the owner decides who writes what.
///
/// Invariants:
/// * data() is aligned to a page, or to a huge page if huge pages were wished for and one fits.
/// * The memory has room for size() bytes, which are at least one.
class Pages {
 public:
  /// Memory of this process alone. Fails if the machine lacks that much, or has no such NUMA node.
  static Result<std::unique_ptr<Pages>> make(Bytes size, const PageWishes& wishes = {});

  /// Memory that other processes can map through descriptor(). The system's tools show `name`, which need not
  /// be unique. The memory lives as long as any process maps it, and needs no cleaning up.
  static Result<std::unique_ptr<Pages>> make_shared(Bytes size, const std::string& name,
                                                    const PageWishes& wishes = {});

  /// Maps the shared memory that another process made with make_shared(). Fails, before taking memory, if it
  /// has another size. The caller keeps the descriptor, and may close it afterwards.
  static Result<std::unique_ptr<Pages>> map_shared(int descriptor, Bytes size);

  ~Pages();
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;

  std::byte* data() const { return data_; }
  Bytes size() const { return size_; }

  /// How much of the memory is in huge pages now. Reads the process's list of mappings: not for hot paths.
  Bytes huge() const;

  /// The wished NUMA node, if the system accepted the wish. The memory is on this node as long as the node
  /// has free memory.
  std::optional<int> numa() const { return numa_; }

  /// The descriptor of the memory, owned by this object; none if it is not shared.
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

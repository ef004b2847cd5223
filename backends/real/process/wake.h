// Wakes a thread that waits in poll().
#pragma once

#include "backends/real/process/descriptor.h"

namespace weir::real {

/// A descriptor for poll(): readable from wake() until it is cleared. WEIR_CHECK if the system has no
/// descriptor left.
Descriptor make_wake();
/// Any thread.
void wake(const Descriptor& descriptor);
void clear_wake(const Descriptor& descriptor);

}  // namespace weir::real

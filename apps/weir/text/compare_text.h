// What weir compare prints about two records, as text and as JSON.
#pragma once

#include <string>

#include "core/compare/difference.h"
#include "core/compare/submissions.h"
#include "studies/run/kept_record.h"

namespace weir {

/// Everything that is printed. The referenced objects outlive it.
struct RecordComparison {
  const KeptRecord& a;
  const KeptRecord& b;
  const Difference& difference;
  const Orders& orders;
};

/// "SimGrid"; or "SimGrid (A)" and "SimGrid (B)" if both records come from that world.
std::string name_of_a(const KeptRecord& a, const KeptRecord& b);
std::string name_of_b(const KeptRecord& a, const KeptRecord& b);

std::string text(const RecordComparison& comparison);
std::string json(const RecordComparison& comparison);

}  // namespace weir

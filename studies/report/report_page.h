// A page about a sweep: one HTML file that needs no other files and no network.
#pragma once

#include <string>

#include "studies/sweep/sweep_folder.h"

namespace weir {

/// The page for the sweep in `folder`, as a text. `page` is where it will be saved: links to files in the
/// folder start from there.
std::string report_page(const SweepFolder& sweep, const std::string& folder, const std::string& page);

}  // namespace weir

// A page about a sweep: one HTML file that needs nothing beside it and asks nothing of any network.
#pragma once

#include <string>

#include "studies/sweep/sweep_folder.h"

namespace weir {

/// The folder is what the page says it is made of; the page links what lies there from where it is to lie.
std::string report_page(const SweepFolder& sweep, const std::string& folder, const std::string& page);

}  // namespace weir

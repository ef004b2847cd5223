// Checks what must hold in a topology beyond each single field. Errors name the line.
#pragma once

#include <string>
#include <vector>

#include "core/cluster/topology.h"
#include "core/document/complaints.h"

namespace weir {

class TopologyCheck {
 public:
  /// `document` is what the topology was read from, and `path` its place there. Both are empty if it was not
  /// read from a document.
  TopologyCheck(const Topology& topology, const Value& document, std::string path, Complaints& complaints);

  /// Adds all errors to the complaints.
  void run();

 private:
  void check_group(const GroupSpec& group, const std::string& path);
  void check_switches(const GroupSpec& group, const std::string& path);
  void check_places(const GroupSpec& group, const std::string& path);
  void check_at(const GroupSpec& group, const std::string& at, const std::string& path);
  void check_sockets(const GroupSpec& group, const std::string& path);
  void check_nvlink(const GroupSpec& group, const std::string& path);
  void check_prices();
  void check_racks();
  void check_calibration();
  /// Whether the pair names two different things out of `count`, and is not among the pairs seen so far.
  bool check_pair(const std::vector<int>& pair, int count, const std::string& noun,
                  std::vector<std::vector<int>>& seen, const std::string& path);
  void complain(const std::string& path, const std::string& text);

  const Topology& topology_;
  const Value& document_;
  std::string path_;
  Complaints& complaints_;
};

}  // namespace weir
